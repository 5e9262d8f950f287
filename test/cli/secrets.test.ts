import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifySignature } from "pigeonhole/protocol";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";
// Commands load what they need when they run, which is no time of a test.
import "#pigeonhole/cli/captures/run.js";
import "#pigeonhole/cli/doctor/run.js";
import "#pigeonhole/receiver/create-receiver.js";

const body = '{"id":"evt_1","type":"email.received","createdAt":"2026-01-01T00:00:00Z","data":{}}';
const env = { WEBHOOK_SECRET: SECRET };

/** Signs the body with what the options say. */
async function sign(args: string[] = [], options: { cwd?: string; env?: Record<string, string> } = { env }) {
  const result = await runCli(["trigger", "--body", "-", "--print", "--json", ...args], { ...options, input: body });
  const [{ headers = [] } = {}] = jsonLines(result) as { headers?: [string, string][] }[];
  const isGenuine = verifySignature({ body, headers: Object.fromEntries(headers), secrets: SECRET }).ok;
  return { ...result, headers, isGenuine };
}

describe("captures show", () => {
  /** Shows a captured request of these bytes. */
  async function show(
    bytes: string,
    { tags = [], ...options }: { tags?: string[]; env?: Record<string, string> } = {},
  ) {
    const cwd = makeFolder();
    const request = { method: "POST", path: "/", headers: (await sign()).headers, body: Buffer.from(bytes) };
    const capture = captureRequest({ request, receivedAt: Date.now(), source: "live", secrets: [] });
    writeFileSync(join(cwd, "one.json"), JSON.stringify({ ...capture, tags }));
    const { stdout } = await runCli(["captures", "show", "./one.json", "--secret", "env:MINE"], { cwd, ...options });
    return stdout;
  }

  test("captures show says with which secret a signature was made", async () => {
    expect(await show(body, { env: { MINE: SECRET } })).toContain("signature  ✓ genuine  signed with env:MINE\n");
  });

  test("captures show says what is wrong with a signature and what to change, with the name of the secret", async () => {
    const other = await show(body, { env: { MINE: "whsec_tooshort_for_one" } });
    expect(other).toMatch(/^signature {2}✗ mismatch\n {11}\S.*\n {11}→ \S/m);
    expect(other).toContain("env:MINE has");
    expect(other).not.toContain("secrets[");
    expect(await show(`${body}\n`, { env: { MINE: SECRET } })).toContain("line end");
  });

  test("captures show explains no signature from the beginning of a body that was cut", async () => {
    expect(await show(body, { tags: ["cut"], env: { MINE: SECRET } })).toContain("no secret is known");
  });
});

describe("a secret", () => {
  test("a secret can be given by a variable, a file, .env or the command line, and the environment goes before .env", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "secret.txt"), `${SECRET}\n`);
    expect(await sign()).toMatchObject({ code: 0, isGenuine: true });
    expect(await sign(["--secret", "env:OTHER"], { env: { OTHER: SECRET } })).toMatchObject({ isGenuine: true });
    expect(await sign(["--secret", "file:secret.txt"], { cwd })).toMatchObject({ isGenuine: true });
    expect(await sign(["--secret", SECRET], {})).toMatchObject({ isGenuine: true });
    writeFileSync(join(cwd, ".env"), `# comment\nWEBHOOK_SECRET="${SECRET}"\n`);
    expect(await sign([], { cwd })).toMatchObject({ isGenuine: true });
    writeFileSync(join(cwd, ".env"), "WEBHOOK_SECRET=whsec_other\n");
    expect(await sign([], { cwd, env })).toMatchObject({ isGenuine: true });
  });

  test.each([
    ["UTF-8", Buffer.from(`\uFEFFWEBHOOK_SECRET=${SECRET}\n`)],
    ["UTF-16", Buffer.from(`\uFEFFWEBHOOK_SECRET=${SECRET}\r\n`, "utf16le")],
  ])(
    "the error for a secret after the byte order mark of a .env in %s says how to fix the file, not that it is missing",
    async (_, bytes) => {
      const cwd = makeFolder();
      writeFileSync(join(cwd, ".env"), bytes);
      const { code, stderr } = await sign([], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`WEBHOOK_SECRET is in ${join(cwd, ".env")}, but`)]);
      expect(stderr).toContain("Save the file as UTF-8 without that mark.");
      expect(stderr).not.toContain(SECRET);
    },
  );

  test("a secret on a later line than the byte order mark is read, as Node reads it", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, ".env"), `\uFEFFPORT=3000\nWEBHOOK_SECRET=${SECRET}\n`);
    expect(await sign([], { cwd })).toMatchObject({ code: 0 });
    expect(await runCli(["doctor"], { cwd })).toMatchObject({ code: 0 });
  });
});
