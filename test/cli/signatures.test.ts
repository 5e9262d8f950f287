import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeCapture } from "../support/captures.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

const body = '{"id":"evt_1","type":"email.received","createdAt":"2026-01-01T00:00:00Z","data":{}}';
const env = { WEBHOOK_SECRET: SECRET };

async function signedHeader(input = body): Promise<string> {
  const { stdout } = await runCli(["sign"], { env, input });
  return stdout.trim();
}

describe("sign and verify", () => {
  test("sign and verify agree on a delivery", async () => {
    const header = await signedHeader();
    const { code, stdout } = await runCli(["verify", "--body", "-", "-H", header], { env, input: body });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ genuine {2}signed with env:WEBHOOK_SECRET\n/)]);
  });

  test("verify ends with 1, the reason and what to change if the secret is another one", async () => {
    const header = await signedHeader();
    const options = { env: { WEBHOOK_SECRET: `${SECRET}x` }, input: body };
    const { code, stdout } = await runCli(["verify", "--body", "-", "-H", header], options);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^✗ mismatch\n {2}\S.*\n {2}→ \S/)]);
  });

  test("verify ends with 1 if the body has an additional line end, and names it", async () => {
    const header = await signedHeader();
    const result = await runCli(["verify", "--body", "-", "-H", header, "--json"], {
      env,
      input: `${body}\n`,
    });
    expect(result.code).toBe(1);
    const [line] = jsonLines(result);
    expect(line).toMatchObject({ schemaVersion: 1, ok: false, reason: "mismatch" });
    expect(line?.["findings"]).toMatchObject([{ code: "body_trailing_newline" }]);
  });

  test("verify explains no signature from the beginning of a body that was cut", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "cut.json"), JSON.stringify({ ...makeCapture(), tags: ["cut"] }));
    const { code, stderr } = await runCli(["verify", "./cut.json"], { cwd, env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("only the beginning of its body was kept")]);
  });

  test("verify calls a secret by the name that it was given under", async () => {
    const header = await signedHeader();
    const short = { WEBHOOK_SECRET: SECRET, OTHER: "whsec_tooshort_for_one" };
    const args = ["verify", "--body", "-", "-H", header, "--secret", "env:OTHER"];
    const { code, stdout } = await runCli(args, { env: short, input: body });
    expect(code).toBe(1);
    expect(stdout).toContain("env:OTHER has");
    expect(stdout).not.toContain("secrets[");
  });

  test("verify measures the age against --at, and sign and verify agree within --tolerance", async () => {
    const { stdout } = await runCli(["sign", "--at", "2026-01-01T00:00:00Z"], { env, input: body });
    const check = (...args: string[]) =>
      runCli(["verify", "--body", "-", "-H", stdout.trim(), ...args], { env, input: body });
    expect((await check("--at", "2026-01-01T00:05:00Z")).code).toBe(0);
    expect((await check("--at", "2026-01-01T00:05:01Z")).stdout).toContain("✗ stale");
    expect((await check("--at", "2026-01-01T00:05:01Z", "--tolerance", "301")).code).toBe(0);
  });

  test("sign --curl prints a line that a shell can run", async () => {
    const { stdout } = await runCli(["sign", "--curl", "http://127.0.0.1:1/a?b=c&d='e'"], { env, input: body });
    expect(stdout).toMatch(
      /^curl --data-binary @- -H 'content-type: application\/json' -H 'x-svc-signature: t=\d+,v1=/,
    );
    expect(stdout).toContain("'http://127.0.0.1:1/a?b=c&d='\\''e'\\'''");
  });
});

describe("a secret", () => {
  async function signature(args: string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
    return runCli(["sign", "--at", "1700000000", ...args], { ...options, input: body });
  }

  test("a secret can be given by a variable, a file, .env or the command line, with the same result", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "secret.txt"), `${SECRET}\n`);
    const expected = await signature([], { env });
    expect(expected.code).toBe(0);
    expect(await signature(["--secret", "env:OTHER"], { env: { OTHER: SECRET } })).toEqual(expected);
    expect(await signature(["--secret", "file:secret.txt"], { cwd })).toEqual(expected);
    expect(await signature(["--secret", SECRET])).toEqual(expected);
    writeFileSync(join(cwd, ".env"), `# comment\nWEBHOOK_SECRET="${SECRET}"\n`);
    expect(await signature([], { cwd })).toEqual(expected);
  });

  test("a secret of the environment takes precedence over that of .env", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, ".env"), "WEBHOOK_SECRET=whsec_other\n");
    expect(await signature([], { cwd, env })).toEqual(await signature([], { env }));
  });

  test.each([
    [["--secret", "env:MISSING"], "--secret: the variable MISSING is not set"],
    [["--secret", "file:none.txt"], "--secret: the file none.txt cannot be read"],
    [[], "give --secret env:NAME"],
  ])("a secret that is missing (%j) ends with 2 and names a way to give one", async (args, words) => {
    const { code, stderr } = await signature(args);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test.each([
    ["UTF-8", Buffer.from(`\uFEFFWEBHOOK_SECRET=${SECRET}\n`)],
    ["UTF-16", Buffer.from(`\uFEFFWEBHOOK_SECRET=${SECRET}\r\n`, "utf16le")],
  ])(
    "the error for a secret after the byte order mark of a .env in %s says how to fix the file, not that it is missing",
    async (_, bytes) => {
      const cwd = makeFolder();
      writeFileSync(join(cwd, ".env"), bytes);
      const { code, stderr } = await signature([], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining(`WEBHOOK_SECRET is in ${join(cwd, ".env")}, but`)]);
      expect(stderr).toContain("Save the file as UTF-8 without that mark.");
      expect(stderr).not.toContain(SECRET);
    },
  );

  test("a secret on a later line than the byte order mark is read, as Node reads it", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, ".env"), `\uFEFFPORT=3000\nWEBHOOK_SECRET=${SECRET}\n`);
    expect(await signature([], { cwd })).toMatchObject({ code: 0 });
    expect(await runCli(["doctor", "--port", "0"], { cwd })).toMatchObject({ code: 0 });
  });
});
