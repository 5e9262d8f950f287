import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startReceiverApp } from "./app.js";

/** The service's API on a port, with an endpoint of this URL. */
async function startApi(url: string, secret = SECRET) {
  const sandbox = createSandbox({ receiverTime: "machine" });
  onTestFinished(() => sandbox.close());
  const { id } = sandbox.endpoints.create({ url }, { secret });
  const { url: baseUrl } = await sandbox.listen({ port: 0 });
  const cwd = makeFolder();
  const env = { PIGEONHOLE_BASE_URL: baseUrl, PIGEONHOLE_API_KEY: sandbox.apiKey };
  const run = (args: string[], others: Record<string, string> = {}) =>
    runCli(["endpoints", ...args], { cwd, env: { ...env, ...others } });
  return { id, cwd, run };
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
    const { id, cwd, run } = await startApi(app.url);
    writeFileSync(join(cwd, "file"), "");
    for (const file of ["file/secret", "."]) {
      const refused = await run(["rotate-secret", id, "--yes", "--write-secret", file]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Nothing was changed")]);
    }
    expect(await run(["test", id])).toMatchObject({ code: 0 });
  });

  test("endpoints test ends with 1 if the test fails, and with 3 on an error answer and without an answer", async () => {
    const { id, run } = await startApi("http://127.0.0.1:9/");
    const failed = await run(["test", id]);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringContaining("\n  → The service did not reach the app."),
    ]);
    const refused = await run(["test", id], { PIGEONHOLE_API_KEY: "svc_live_wrong" });
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining("HTTP 401")]);
    expect(refused.stderr).not.toContain("svc_live_wrong");
    expect(await run(["test", id], { PIGEONHOLE_BASE_URL: "http://127.0.0.1:9" })).toMatchObject({ code: 3 });
    expect(await run(["test", "42"])).toMatchObject({ code: 2 });
  });

  test("endpoints test explains the cause that a failed answer points to", async () => {
    const app = await startReceiverApp();
    const { id, run } = await startApi(app.url, `whsec_${"x".repeat(43)}`);
    const { code, stdout } = await run(["test", id]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/✗ failed {2}503 .*\n {2}→ .* another secret/)]);
    const [line] = jsonLines(await run(["test", id, "--json"]));
    expect(line).toMatchObject({
      delivery: { responseCode: 503 },
      hint: expect.stringContaining("rotation") as string,
    });
  });
});
