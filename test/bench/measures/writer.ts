import { spawnSync } from "node:child_process";
import { startChild } from "../process/child.js";
import { pinCommand, SERVER_CORE } from "../process/pinning.js";
import type { WriterCalls, WriterTimes } from "../process/writer-process.js";
import { median } from "../stats.js";
import { formatNumber, formatTable, printLine, printProgress, printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";

/** Events of one interval, and for a quick look. */
const EVENTS = 20_000;
const QUICK_EVENTS = 4_000;
const EVENTS_PER_BATCH = 40;

/** Layouts of the lab's script that have no work row, or a narrow one. */
const LAB_LAYOUTS = "B,D,E";
const LAB_LIMIT_MS = 120_000;

/** What the writer's statements cost: accepting and settling at batches of 40, on this thread, a transaction each. */
export async function measureWriter(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  const events = options.quick ? QUICK_EVENTS : EVENTS;
  printTitle(
    `Writer, Node ${runtime.version}: ${events} events accepted and settled at batches of ${EVENTS_PER_BATCH}, ${options.rounds} rounds`,
  );
  const times = { plain: [] as WriterTimes[], mixed: [] as WriterTimes[] };
  for (let round = 0; round < options.rounds; round += 1) {
    for (const kind of round % 2 === 0 ? (["plain", "mixed"] as const) : (["mixed", "plain"] as const)) {
      times[kind].push(await measureOnce(context, { events, mixed: kind === "mixed" }));
    }
    printProgress(`writer, round ${round + 1} of ${options.rounds}`);
  }
  const formatTimes = (title: string, rows: readonly WriterTimes[]): string[] => [
    title,
    ...(["user", "system", "wall"] as const).map((figure) => formatNumber(median(rows.map((row) => row[figure])), 1)),
  ];
  printLine(
    formatTable(
      ["µs per event", "user CPU", "system CPU", "on the clock"],
      [
        formatTimes("one handler", times.plain),
        formatTimes("3 handlers each, 5 types, 1 % failures", times.mixed),
        ...measureLab(context, events),
      ],
    ),
  );
  facts.set("writer µs", median(times.plain.map(({ user }) => user)));
}

/**
 * A fresh process and a fresh file, after one that warms up: the lab's median of three has had as many events before
 * it.
 */
async function measureOnce(
  { runtime, scratch }: MeasureContext,
  plan: { events: number; mixed: boolean },
): Promise<WriterTimes> {
  const child = startChild<WriterCalls>({ file: "process/writer-process.ts", runtime, cores: SERVER_CORE });
  try {
    await child.call("measure", { ...plan, file: scratch.file("writer-warm-up.db") });
    return await child.call("measure", { ...plan, file: scratch.file("writer.db") });
  } finally {
    await child.end();
  }
}

/** The same through the bare statements of the lab's layouts, where the lab is. */
function measureLab({ perfLab, runtime, scratch }: MeasureContext, events: number): string[][] {
  if (!perfLab.ok) {
    printLine(`layouts of the lab left out: ${perfLab.reason}`);
    return [];
  }
  const args = ["schema.mjs", String(EVENTS_PER_BATCH), String(events), LAB_LAYOUTS];
  const command = pinCommand(SERVER_CORE, [runtime.node, ...args]);
  const env = { ...process.env, ...perfLab.environment, LAB_DB: scratch.file("layouts.db") };
  const lab = spawnSync(command.file, command.args, {
    cwd: perfLab.folder,
    env,
    encoding: "utf8",
    timeout: LAB_LIMIT_MS,
  });
  const lines = lab.stdout?.matchAll(/^(\w+) +user ([\d.]+) sys ([\d.]+) wall ([\d.]+)/gm) ?? [];
  return [...lines].map(([, name, user, system, wall]) => [
    `layout ${name} of the lab, statements alone`,
    ...[user, system, wall].map((micros) => formatNumber(Number(micros), 1)),
  ]);
}
