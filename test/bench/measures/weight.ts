import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildClientBefore } from "../process/client-before.js";
import { cpuOfCommand } from "../process/cpu-of-command.js";
import { median, medianRatio } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";

/** A command for the package in a folder. */
type CommandFor = (home: string) => readonly string[];

/** Processes of one round. */
const RUNS = 5;

/** CPU that starting with `pigeonhole/client` takes, beside the client that had 13 operations. */
export function measureImport(context: MeasureContext): Promise<void> {
  const { node, version } = context.runtime;
  printTitle(`Starting with pigeonhole/client, Node ${version}: CPU of a process that makes a client`);
  const start = (home: string) => `
    const { createClient } = await import(${JSON.stringify(join(home, "dist/client.js"))});
    createClient({ apiKey: "svc_live_key", baseUrl: "http://127.0.0.1:1/v1" });`;
  compare(context, "import", (home) => [node, "--input-type=module", "--eval", start(home)]);
  return Promise.resolve();
}

/** CPU that type-checking a small app with the client takes, beside the client that had 13 operations. */
export function measureTypes(context: MeasureContext): Promise<void> {
  const { runtime, scratch } = context;
  printTitle("Type-checking a small app that uses pigeonhole/client: CPU of tsc");
  const compiler = join(runtime.home, "node_modules/typescript/bin/tsc");
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"];
  compare(context, "types", (home) => {
    const folder = scratch.file("app");
    mkdirSync(folder);
    symlinkSync(join(runtime.home, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "app.ts"), appFor(join(home, "dist/client.js")));
    return [
      runtime.node,
      compiler,
      ...flags,
      "--types",
      "node",
      "--typeRoots",
      join(runtime.home, "node_modules/@types"),
      join(folder, "app.ts"),
    ];
  });
  return Promise.resolve();
}

const appFor = (file: string): string => `
  import { ApiError, createClient } from ${JSON.stringify(file)};
  const client = createClient({ apiKey: "svc_live_key", baseUrl: "https://api.example.com/v1" });
  try {
    const { id } = await client.contactEvents.send({ name: "a", email: "a@b.c" }, { idempotencyKey: "k" });
    for await (const endpoint of client.webhooks.list({ limit: 10 })) console.log(endpoint.url, id);
  } catch (error) {
    if (error instanceof ApiError) console.log(error.code, error.status);
  }
`;

function compare({ options, scratch, runtime, facts }: MeasureContext, name: string, commandFor: CommandFor): void {
  const today = commandFor(runtime.home);
  const before = commandFor(buildClientBefore(scratch));
  const times: { today: number[]; before: number[] } = { today: [], before: [] };
  for (let run = 0; run < options.rounds * RUNS; run += 1) {
    if (run % RUNS === 0) printProgress(`${name}, round ${run / RUNS + 1} of ${options.rounds}`);
    const order = run % 2 === 0 ? (["today", "before"] as const) : (["before", "today"] as const);
    for (const which of order) times[which].push(cpuOfCommand(which === "today" ? today : before, scratch.directory));
  }
  const ratio = medianRatio(times.today, times.before);
  const rows = [
    ["with 13 operations", formatNumber(median(times.before), 0), "1.00"],
    ["today", formatNumber(median(times.today), 0), formatNumber(ratio, 2)],
  ];
  printLine(formatTable(["client", "ms CPU", "ratio"], rows));
  facts.set(`${name} today/before`, ratio);
}
