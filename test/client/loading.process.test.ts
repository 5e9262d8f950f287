import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { listOperations } from "#pigeonhole/contract/contract.js";

const run = promisify(execFile);
const CONTRACT = new URL("../../dist/contract/", import.meta.url);

/** File of a resource's rows. */
const fileOf = (resource: string): string =>
  `${resource.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.js`;

const FILES = [...new Set(listOperations().map(({ resource }) => fileOf(resource)))];

/** The files of the contract's resources that a program loads, in order. */
async function loadedBy(program: string): Promise<string[]> {
  const script = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
    ${program}
    console.log(JSON.stringify(seen));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
  });
  const seen = JSON.parse(stdout) as string[];
  expect(seen.length).toBeGreaterThan(20);
  return FILES.filter((file) => seen.includes(new URL(file, CONTRACT).href));
}

const CLIENT = `
  const { createClient } = await import("pigeonhole/client");
  const api = { apiKey: "svc_live_key", baseUrl: "http://127.0.0.1:1/v1", maxRetries: 0 };
  const client = createClient(api);`;

test.each([
  ["pigeonhole", 'await import("pigeonhole");', []],
  ["pigeonhole/client", 'await import("pigeonhole/client");', []],
  ["a client that is made", `${CLIENT} Object.values(client).map((calls) => Object.keys(calls));`, []],
  [
    "a receiver that is made with an API",
    `${CLIENT} (await import("pigeonhole")).createReceiver({ secrets: "whsec_" + "a".repeat(43), store: ":memory:", api });`,
    [],
  ],
  ["a call of a label", `${CLIENT} await client.labels.list().catch(() => {});`, ["labels.js"]],
])("%s loads the resources of the API that it uses, and no other", async (_, program, files) => {
  expect(await loadedBy(program)).toEqual(files);
});
