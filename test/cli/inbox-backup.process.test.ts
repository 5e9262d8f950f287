import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { backUpInboxFile } from "#pigeonhole/store/sqlite/back-up-inbox-file.js";
import { startReceiverApp } from "./app.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";
import { startProgram } from "../support/start-program.js";

/** Changes two numbers together, over and over. */
const WRITER = `
  const db = new (require("better-sqlite3"))(process.argv[1], { timeout: 5000 });
  db.pragma("synchronous = OFF");
  const change = db.prepare("UPDATE pair SET a = a + 1, b = b + 1");
  for (;;) change.run();
`;

describe("inbox backup", () => {
  test("inbox backup beside a running receiver writes one private file that has every event", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await app.receive("email.sent"));
    const result = await runCli(["inbox", "backup", "copy.db", "--db", app.file, "--json"], { cwd });
    const copy = join(cwd, "copy.db");
    expect(result.stderr).toBe("");
    expect(jsonLines(result)).toEqual([{ schemaVersion: 1, file: app.file, copy, bytes: statSync(copy).size }]);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(cwd)).toEqual(["copy.db"]);
    const listed = jsonLines(await runCli(["inbox", "list", "--db", "copy.db", "--json"], { cwd }));
    expect(listed.map((line) => (line["event"] as { id: string }).id)).toEqual(ids.toReversed());
  });

  test("inbox backup copies the state of one moment, and ends although another process commits all the time", async () => {
    const app = await startReceiverApp();
    const id = await app.receive("email.sent");
    // Large enough that many commits fall into the copying of it.
    const own = new Database(app.file);
    own.exec("CREATE TABLE pair (a, b)");
    own.exec("INSERT INTO pair VALUES (0, 0)");
    own.exec("CREATE TABLE ballast (text)");
    own.exec(`
      WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < 10000)
      INSERT INTO ballast SELECT hex(zeroblob(2000)) FROM series`);
    const count = (db: Database.Database) => db.prepare("SELECT a, b FROM pair").get() as { a: number; b: number };
    const writer = startProgram({ command: process.execPath, args: ["-e", WRITER, app.file] });
    onTestFinished(async () => {
      writer.signal("SIGKILL");
      await writer.ended;
      own.close();
    });
    await expect.poll(() => count(own).a).toBeGreaterThan(10);
    const before = count(own).a;
    const copy = join(makeFolder(), "copy.db");
    await backUpInboxFile({ file: app.file, copy });
    const after = count(own).a;

    expect(after).toBeGreaterThan(before);
    const copied = new Database(copy, { readonly: true });
    const { a, b } = count(copied);
    expect(copied.pragma("integrity_check", { simple: true })).toBe("ok");
    copied.close();
    expect(b).toBe(a);
    expect(a).toBeGreaterThanOrEqual(before);
    expect(a).toBeLessThanOrEqual(after);
    expect((await runCli(["inbox", "show", id, "--db", copy])).code).toBe(0);
  });

  test("inbox backup replaces an existing copy only with --force", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    writeFileSync(join(cwd, "copy.db"), "mine");
    const args = ["inbox", "backup", "copy.db", "--db", app.file];
    const refused = await runCli(args, { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--force")]);
    expect(statSync(join(cwd, "copy.db")).size).toBe(4);
    expect(await runCli([...args, "--force"], { cwd })).toMatchObject({ code: 0 });
    expect(await runCli(["inbox", "stats", "--db", "copy.db"], { cwd })).toMatchObject({ code: 0 });
    expect(readdirSync(cwd)).toEqual(["copy.db"]);
  });

  test("inbox backup never replaces the database, an open database or a folder, even with --force", async () => {
    const app = await startReceiverApp();
    const other = await startReceiverApp();
    const cwd = makeFolder();
    symlinkSync(app.file, join(cwd, "link.db"));
    mkdirSync(join(cwd, "folder"));
    const before = statSync(app.file).ino;
    for (const [copy, words] of [
      [app.file, "is the database itself"],
      [join(cwd, "link.db"), "is the database itself"],
      [other.file, "-wal exists"],
      [join(cwd, "folder"), "is a folder"],
      [join(cwd, "none", "copy.db"), "does not exist"],
    ] as const) {
      const { code, stderr } = await runCli(["inbox", "backup", copy, "--db", app.file, "--force"], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    }
    expect(statSync(app.file).ino).toBe(before);
    expect(readdirSync(cwd).toSorted()).toEqual(["folder", "link.db"]);
  });

  test("inbox backup that is interrupted leaves nothing", async () => {
    const app = await startReceiverApp();
    const cwd = makeFolder();
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(backUpInboxFile({ file: app.file, copy: join(cwd, "copy.db"), signal })).rejects.toThrow("enough");
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("inbox backup of a file that is not a receiver's is refused, by other commands too, leaves nothing and changes nothing", async () => {
    const cwd = makeFolder();
    writeFileSync(join(cwd, "other.db"), "not a database, just text that is long enough to look at");
    const text = readFileSync(join(cwd, "other.db"), "utf8");
    expect(await runCli(["inbox", "backup", "copy.db", "--db", "other.db"], { cwd })).toMatchObject({ code: 2 });
    expect(await runCli(["inbox", "list", "--db", "other.db"], { cwd })).toMatchObject({ code: 2 });
    expect(readdirSync(cwd)).toEqual(["other.db"]);
    expect(readFileSync(join(cwd, "other.db"), "utf8")).toBe(text);
  });
});
