import { existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createPostgresStore } from "pigeonhole/postgres";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { makeFolder } from "../support/folder.js";
import { type TestDatabase, describeOnPostgres } from "../support/postgres-server.js";
import { type CliResult, jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { type App, startReceiverApp } from "./app.js";
import { makeFixtures } from "./import-events.js";

const APP = fileURLToPath(new URL("receiver-app.mjs", import.meta.url));
const PASSWORD = "canary-of-the-password";

/** The server asks for no password, so any is right. */
const withPassword = (url: string): string => url.replace("//postgres@", `//postgres:${PASSWORD}@`);

/** The database of the file as a command takes it. */
const placeOf = ({ url, schema }: TestDatabase): string => `${withPassword(url)}#${schema}`;

function startOnPostgres({ pool, schema }: TestDatabase): Promise<App> {
  onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)));
  return startReceiverApp(undefined, createPostgresStore({ pool, schema }));
}

/** An event whose envelope is not understood. */
const makeUnreadable = () => ({ ...sampleEvent("email.sent"), createdAt: "noon" });

/** Runs a command, whose output must not have the password. */
async function run(args: readonly string[], env: Record<string, string> = {}, cwd = makeFolder()): Promise<CliResult> {
  const result = await runCli(args, { cwd, env });
  expect(result.stdout + result.stderr).not.toContain(PASSWORD);
  return result;
}

/**
 * Without what differs between two runs of the same: times, how long handlers took, names of captures, lines of code,
 * and what comes first on a time line when two handlers run at once.
 */
function comparable({ code, stdout, stderr }: CliResult): string {
  const text = `${code}\n${stdout}\n${stderr}`;
  return text
    .replaceAll(/\\n +at [^"\\]*/g, "")
    .replaceAll(/^ +at .*\n/gm, "")
    .replaceAll(/cap_\w+/g, "<capture>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/ +(?:< \d+ m?s|MEDIAN|P95)/g, " <took>")
    .replaceAll(/\d+ ms ago|the oldest of .* ago/g, "<age>")
    .replaceAll(/(?:^ {2}<time> {2}.*\n)+/gm, (lines) => lines.split("\n").toSorted().join("\n"))
    .replaceAll(/(?<="timeline":\[).*?(?=\],"body")/g, (entries) =>
      entries
        .split(/(?<=\}),/)
        .toSorted()
        .join(),
    );
}

describeOnPostgres((database) => {
  test("the commands show the same of a PostgreSQL as of a file", async () => {
    const apps = [await startReceiverApp(), await startOnPostgres(database)];
    const events = (["email.sent", "email.bounced", "email.complained", "email.opened"] as const).map((type) =>
      sampleEvent(type),
    );
    const unreadable = makeUnreadable();
    for (const { receiver } of apps) {
      for (const event of [...events, unreadable]) await deliver(receiver, event, { secret: SECRET });
    }
    const [file = "", url] = [apps[0]?.file, placeOf(database)];
    const bounced = events[1]?.id ?? "";
    for (const args of [
      // First: later on one process may have reported its state and the other one not.
      ["inbox", "stats"],
      ["inbox", "list"],
      ["inbox", "list", "--json"],
      ["inbox", "list", "--state", "dead", "--error", "MAIL server"],
      ["inbox", "show", bounced],
      ["inbox", "show", bounced, "--json"],
      ["inbox", "show", bounced, "--body"],
      ["inbox", "retry", "--state", "parked"],
      ["inbox", "discard", "--state", "dead", "--yes"],
      ["inbox", "discard", events[2]?.id ?? "", "--yes"],
      ["inbox", "erase", "--email", "ada@customer.example.com", "--dry-run"],
      ["inbox", "list", "--state", "done"],
      ["outbox", "list"],
      ["outbox", "retry", "no such key"],
      ["outbox", "retry", "--state", "dead"],
    ]) {
      const [ofFile, ofUrl] = [await run([...args, "--db", file]), await run([...args, "--db", url])];
      expect(comparable(ofUrl), args.join(" ")).toBe(comparable(ofFile));
    }
  });

  test("an error names the database without its password", async () => {
    const { stderr } = await run(["inbox", "show", "evt_1", "--db", placeOf(database)]);
    const named = new RegExp(`postgres://postgres@127\\.0\\.0\\.1:\\d+/\\w+#${database.schema} has no inbox`);
    expect(stderr).toMatch(named);
    await startOnPostgres(database);
    const unknown = await run(["inbox", "show", "evt_1", "--db", placeOf(database)]);
    expect(unknown.stderr).toMatch(/No event with id "evt_1" is in postgres:\/\/postgres@127/);
    const backup = await run(["inbox", "backup", "copy.db", "--db", placeOf(database)]);
    expect([backup.code, backup.stderr]).toEqual([2, expect.stringContaining("pg_dump")]);
    const wrong = await run(["inbox", "list", "--db", `postgres://app:${PASSWORD}@db:port/app`]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("cannot be read")]);
  });

  test("the database is that of DATABASE_URL, if none names a file, and the default file if that has no inbox", async () => {
    const app = await startOnPostgres(database);
    await deliver(app.receiver, sampleEvent("email.sent"), { secret: SECRET });
    const DATABASE_URL = placeOf(database);
    const list = ["inbox", "list", "--json"];
    expect(jsonLines(await run(list, { DATABASE_URL }))).toHaveLength(1);
    expect(jsonLines(await run([...list, "--db", "env:MAIL_URL"], { MAIL_URL: DATABASE_URL }))).toHaveLength(1);
    const cwd = makeFolder();
    writeFileSync(join(cwd, ".env"), `DATABASE_URL="${DATABASE_URL}"\n`);
    expect(jsonLines(await run(list, {}, cwd))).toHaveLength(1);
    const file = await startReceiverApp();
    symlinkSync(file.file, join(cwd, "pigeonhole.db"));
    expect(jsonLines(await run(list, {}, cwd))).toHaveLength(1);
    const { stderr } = await run(["inbox", "list"], { DATABASE_URL: `${database.url}#of_another` }, cwd);
    expect(stderr).toBe("No events.\n");
    expect((await run(["inbox", "list"], { DATABASE_FILE: "pigeonhole.db" }, cwd)).stderr).toBe("No events.\n");
    expect((await run(["inbox", "list"], { DATABASE_URL: "mysql://db/app" }, cwd)).stderr).toBe("No events.\n");
    await database.pool.query(`DELETE FROM ${database.schema}.migration`);
    const old = await run(["inbox", "list"], { DATABASE_URL }, cwd);
    expect(old.stderr).toContain("older version 0");
  });

  test("doctor checks the database of DATABASE_URL, and passes over one of the app alone", async () => {
    const databaseOf = async (args: string[], env: Record<string, string> = {}) =>
      jsonLines(await run(["doctor", "--json", ...args], { WEBHOOK_SECRET: SECRET, ...env })).find(
        ({ check }) => check === "database",
      );
    const DATABASE_URL = placeOf(database);
    expect(await databaseOf([], { DATABASE_URL })).toMatchObject({ status: "skip" });
    expect(await databaseOf(["--db", DATABASE_URL])).toMatchObject({ status: "fail" });
    const unreadable = await databaseOf(["--db", `postgres://app:${PASSWORD}@db:port/app`]);
    expect(unreadable).toMatchObject({ status: "fail", message: expect.stringContaining("cannot be read") as string });
    const app = await startOnPostgres(database);
    expect(await databaseOf([], { DATABASE_URL })).toMatchObject({ status: "pass" });
    await deliver(app.receiver, makeUnreadable(), { secret: SECRET });
    expect(await databaseOf(["--db", DATABASE_URL])).toMatchObject({
      status: "warn",
      fix: expect.stringContaining("inbox list --state parked --db env:INBOX_URL") as string,
    });
  });

  test("postgres schema prints SQL that makes the tables, with the rights of a user", async () => {
    const { schema, pool } = database;
    onTestFinished(async () => void (await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)));
    const { code, stdout } = await run(["postgres", "schema", "--schema", schema, "--grant", "postgres"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`GRANT USAGE ON SCHEMA "${schema}" TO "postgres";`);
    await pool.query(stdout);
    expect((await run(["inbox", "list", "--db", placeOf(database)])).stderr).toBe("No events.\n");
  });

  test("test with --start gives the app an empty database of the server of DATABASE_URL and a file, and removes both", async () => {
    const cwd = await makeFixtures(sampleEvent("email.sent"));
    writeFileSync(join(cwd, ".env"), `DATABASE_URL=${withPassword(database.url)}\n`);
    const port = String(await findFreePort());
    const flags = ["--start", `node "${APP}"`, "--to", `${port}/webhooks`];
    // The receiver is in the database of the server, or in a file while DATABASE_URL is for the app's own tables.
    const temporary = makeFolder();
    for (const APP_POSTGRES of ["1", ""]) {
      const env = { APP_PORT: port, APP_POSTGRES, TMPDIR: temporary };
      const { code, stdout } = await run(["test", ...flags], env, cwd);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ email\.sent .* 200 accepted {2}/)]);
      expect([existsSync(join(cwd, "pigeonhole.db")), readdirSync(temporary)]).toEqual([false, []]);
    }
    const { rows } = await database.pool.query(
      "SELECT datname FROM pg_database WHERE datname LIKE 'pigeonhole_test_%'",
    );
    expect(rows).toEqual([]);
    // An inbox that is in use is kept out of a run that does not read it.
    const store = createPostgresStore({ connectionString: database.url });
    onTestFinished(async () => void (await database.pool.query("DROP SCHEMA IF EXISTS pigeonhole CASCADE")));
    await startReceiverApp(undefined, store);
    const answers = await run(["test", "--answers-only", ...flags], { APP_PORT: port, APP_POSTGRES: "1" }, cwd);
    expect(answers.code).toBe(0);
    expect((await run(["inbox", "list"], {}, cwd)).stderr).toBe("No events.\n");
    const file = await run(["test", ...flags], { APP_PORT: port, APP_FILE: ":memory:" }, cwd);
    expect([file.code, file.stderr]).toEqual([2, expect.stringContaining("gave it as DATABASE_FILE and DATABASE_URL")]);
  });
});
