import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const ROOT = new URL("../..", import.meta.url);
const API = `{ apiKey: "svc_live_key", baseUrl: "http://127.0.0.1:1/v1", maxRetries: 0 }`;
const RECEIVER = `
  const { createReceiver } = await import("pigeonhole");
  const receiver = createReceiver({ secrets: "whsec_" + "a".repeat(43), store: ":memory:", api: ${API} });`;

test.each([
  ["pigeonhole", 'await import("pigeonhole");', false],
  ["a receiver that is made with an API", RECEIVER, false],
  ["a client that is made", `(await import("pigeonhole/client")).createClient(${API});`, true],
])("%s loads the rows of the API when it needs them, and not before", async (_, program, isLoaded) => {
  const script = `
    import { registerHooks } from "node:module";
    const seen = [];
    registerHooks({ load: (url, context, next) => (seen.push(url), next(url, context)) });
    ${program}
    console.log(JSON.stringify(seen));
    process.exit();`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(ROOT),
  });
  const seen = JSON.parse(stdout) as string[];
  expect(seen.some((url) => url.includes("/dist/chunks/calls.js"))).toBe(true);
  expect(seen.some((url) => url.includes("/dist/chunks/client-create-client.js"))).toBe(isLoaded);
});
