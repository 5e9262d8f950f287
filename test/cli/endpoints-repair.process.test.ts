import { createPostgresStore } from "pigeonhole/postgres";
import { describe, expect, test } from "vitest";
import { type LossyServiceOptions, openLossyService } from "../support/lossy-service.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { tempFile } from "../support/receiver.js";
import { type CliResult, jsonLines, runCli } from "../support/run-cli.js";

const ADDRESS = "canary.of.the.address@customer.example.com";

/** The service with its API on a port. */
async function openService(options: LossyServiceOptions) {
  const service = await openLossyService(options);
  const { sandbox, secret, id } = service;
  await sandbox.listen();
  const secrets = [secret, sandbox.apiKey, ADDRESS];
  const run = async (...args: string[]): Promise<CliResult> => {
    const env = { PIGEONHOLE_BASE_URL: sandbox.baseUrl, PIGEONHOLE_API_KEY: sandbox.apiKey };
    const result = await runCli(args, { env });
    for (const text of secrets) expect(result.stdout + result.stderr).not.toContain(text);
    return result;
  };
  return {
    ...service,
    run,
    /** Fires events that a proxy answers in place of the receiver. */
    async lose(status: number, count = 1): Promise<void> {
      service.breakWith(status);
      await service.emit(count, { recipient: ADDRESS });
      sandbox.faults.clear();
    },
    repairBy: (args: readonly string[], since = service.since) =>
      run("endpoints", "repair", id, "--since", new Date(since).toISOString(), ...args),
  };
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

describe("endpoints repair", () => {
  test("an endpoint that is off, and a begin before the inbox, are told with the flags that help", async () => {
    const file = tempFile();
    const service = await openService({ store: file });
    await service.lose(410);
    const off = await service.repairBy(["--db", file]);
    expect(off.code).toBe(1);
    expect(oneLine(off.stdout)).toMatch(
      /found 1 event .* missing 1 of them from the inbox replayed 0 arrived 0 still missing 1/,
    );
    expect(off.stdout).toMatch(/evt_\w+ +email\.bounced +\S+Z +410 +not replayed/);
    expect(off.stderr).toContain("--enable switches it on");
    expect(off.stderr).toMatch(/The endpoint was off from \S+Z to now\./);
    const early = await service.repairBy(["--db", file, "--enable"], service.since - 120_000);
    expect(early).toMatchObject({ code: 2, stdout: "" });
    expect(early.stderr).toMatch(/--since: The inbox has the ids of all events since \S+Z; .* --may-repeat\./);
    expect(service.sandbox.endpoints.get(service.id).enabled).toBe(false);
    const dry = await service.repairBy(["--db", file, "--enable", "--dry-run", "--json"]);
    expect(dry.code).toBe(1);
    expect(jsonLines(dry)).toMatchObject([{ repair: { missing: 1, replayed: 0, switchedOn: false } }]);
    const repaired = await service.repairBy(["--db", file, "--enable"]);
    expect(repaired).toMatchObject({ code: 0, stdout: expect.stringMatching(/arrived +1\nstill missing +0\n$/) });
    expect(repaired.stderr).toContain("was off and is on again");
    expect((await service.receiver.inbox.list()).items).toHaveLength(1);
  });

  test("a receiver that refuses the replays ends the repair with the likely cause", async () => {
    const file = tempFile();
    const service = await openService({ store: file, receive: () => new Response(null, { status: 404 }) });
    await service.lose(404, 7);
    const { code, stdout, stderr } = await service.repairBy(["--db", file]);
    expect(code).toBe(1);
    expect(oneLine(stdout)).toContain("replayed 5 arrived 0 still missing 7");
    expect(stderr).toMatch(/several events in a row were not taken\. .*api webhooks\.update <id>/);
  });
});

test("doctor names endpoints that are off or fail, and the command that repairs them", async () => {
  const service = await openService({});
  const checks = async () => jsonLines(await service.run("doctor", "--json"));
  const { id } = service;
  await service.lose(404, 3);
  const other = service.sandbox.endpoints.create({ url: "http://127.0.0.1/other" });
  service.sandbox.endpoints.update(other.id, { enabled: false });
  const repair = `npx pigeonhole endpoints repair ${id} --since`;
  expect((await checks()).filter(({ check }) => check === "endpoint")).toMatchObject([
    {
      status: "warn",
      message: expect.stringContaining(`${other.id} is off`),
      fix: expect.stringContaining("--enable"),
    },
    { status: "warn", message: expect.stringContaining("3 failed attempts"), fix: expect.stringContaining(repair) },
  ]);
  service.sandbox.endpoints.delete(other.id);
  await service.lose(410);
  expect((await checks()).filter(({ check }) => check === "endpoint")).toMatchObject([
    { status: "fail", message: expect.stringContaining("410"), fix: expect.stringContaining(repair) },
  ]);
});

describeOnPostgres((database) => {
  test("events arrive in a PostgreSQL", async () => {
    const { pool, schema, url } = database;
    const service = await openService({ store: createPostgresStore({ pool, schema }) });
    await service.lose(404, 2);
    const result = await service.repairBy(["--db", `${url}#${schema}`, "--json"]);
    expect(jsonLines(result)).toMatchObject([{ repair: { found: 2, missing: 2, arrived: 2, stillMissing: [] } }]);
    expect((await service.receiver.inbox.list()).items).toHaveLength(2);
    const again = await service.repairBy(["--db", `${url}#${schema}`, "--json"]);
    expect(jsonLines(again)).toMatchObject([{ repair: { found: 2, missing: 0 } }]);
  });
});
