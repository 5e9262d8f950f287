import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { asProgram, runToEnd } from "../support/start-program.js";

const ROOT = new URL("../..", import.meta.url);
const API = `{ apiKey: "svc_live_key", baseUrl: "http://127.0.0.1:1/v1", maxRetries: 0 }`;
const RECEIVER = `
  const { createReceiver } = await import("pigeonhole");
  const receiver = createReceiver({ secrets: "whsec_" + "a".repeat(43), store: ":memory:", api: ${API} });`;

/** What a program loads, as URLs. */
async function loadedBy(program: string): Promise<string[]> {
  const script = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
    ${program}
    console.log(JSON.stringify(seen));
    process.exit();`;
  const { stdout } = await runToEnd({ ...asProgram(script), cwd: fileURLToPath(ROOT) });
  return JSON.parse(stdout) as string[];
}

test.each([
  ["pigeonhole", 'await import("pigeonhole");', false],
  ["a receiver that is made with an API", RECEIVER, false],
  ["a client that is made", `(await import("pigeonhole/client")).createClient(${API});`, true],
])("%s loads the rows of the API when it needs them, and not before", async (_, program, isLoaded) => {
  const seen = await loadedBy(program);
  expect(seen.some((url) => url.includes("/dist/chunks/calls.js"))).toBe(true);
  expect(seen.some((url) => url.includes("/dist/chunks/client-create-client.js"))).toBe(isLoaded);
});

test("a thread of a store loads the store alone", async () => {
  const seen = await loadedBy('await import("./dist/chunks/threads.js");');
  expect(seen.some((url) => url.includes("/better-sqlite3/"))).toBe(true);
  expect(seen.filter((url) => /\/(zod|pino|receiver\.js)/.test(url))).toEqual([]);
});
