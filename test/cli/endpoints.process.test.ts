import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { runCli, SECRET } from "../support/run-cli.js";
import { startReceiverApp } from "./app.js";

/** The service's API on a port, with an endpoint of this URL. */
async function startApi(url: string, secret = SECRET) {
  const sandbox = createSandbox({ receiverTime: "machine" });
  onTestFinished(() => sandbox.close());
  const { id } = sandbox.endpoints.create({ url }, { secret });
  const { url: baseUrl } = await sandbox.listen({ port: 0 });
  const cwd = makeFolder();
  const env = { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: sandbox.apiKey };
  const run = (args: string[]) => runCli(["endpoints", ...args], { cwd, env });
  const api = (...args: string[]) => runCli(["api", ...args], { cwd, env });
  return { id, cwd, run, api };
}

describe("endpoints, with the API of the sandbox", () => {
  test("endpoints rotate-secret asks, and prints the new secret or writes it into a private file", async () => {
    const { id, cwd, run } = await startApi("http://127.0.0.1:9/");
    expect(await run(["rotate-secret", id])).toMatchObject({ code: 2 });
    expect((await run(["rotate-secret", id, "--yes"])).stdout).toMatch(/^whsec_\S+\n$/);
    const written = await run(["rotate-secret", id, "--yes", "--write-secret", "secret"]);
    expect([written.code, written.stdout]).toEqual([0, `The new secret of ${id} is in secret.\n`]);
    const file = join(cwd, "secret");
    expect(readFileSync(file, "utf8")).toMatch(/^whsec_\S+\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("endpoints rotate-secret refuses a file that cannot be written before it changes anything", async () => {
    const app = await startReceiverApp();
    const { id, cwd, run, api } = await startApi(app.url);
    writeFileSync(join(cwd, "file"), "");
    for (const file of ["file/secret", "."]) {
      const refused = await run(["rotate-secret", id, "--yes", "--write-secret", file]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Nothing was changed")]);
    }
    expect((await api("webhooks.test", id)).stdout).toContain('"status": "delivered"');
  });
});
