import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { readInboxFile } from "../support/inbox-file.js";
import { type ReceiverConfig, type ReceiverProcess, findFreePort, startReceiver } from "../support/receiver-process.js";
import { SECRET, createScratch } from "../support/scratch.js";
import { ServiceSender } from "../support/service-sender.js";
import { BIN } from "../support/start-cli.js";
import { runToEnd } from "../support/start-program.js";

// What becomes of a running receiver whose files are taken away: no delivery is acknowledged into a file that nobody
// will find.

interface Scene {
  file: string;
  config: ReceiverConfig;
  /** Sends that many events, one after the other, as long as `goOn` says; ids by the status of their answer. */
  send(name: string, count: number): Promise<Map<number | null, string[]>>;
  start(): Promise<ReceiverProcess>;
}

async function prepare(): Promise<Scene> {
  const { file } = createScratch();
  const port = await findFreePort();
  const config: ReceiverConfig = { file, port, secret: SECRET, handlers: { one: { kind: "commit" } } };
  const sender = new ServiceSender({ secret: SECRET, port: () => port, random: Math.random });
  return {
    file,
    config,
    async send(name, count) {
      const answers = new Map<number | null, string[]>();
      for (let index = 0; index < count; index += 1) {
        const id = `${name}_${index}`;
        const { status } = await sender.attempt({ id, tasks: {} });
        answers.set(status, [...(answers.get(status) ?? []), id]);
      }
      return answers;
    },
    async start() {
      const started = startReceiver(config);
      expect(await started.line("ready")).toBeDefined();
      return started;
    },
  };
}

/** A receiver that runs and has acknowledged 20 events. */
async function run() {
  const scene = await prepare();
  const receiver = await scene.start();
  const acknowledged = (await scene.send("before", 20)).get(200) ?? [];
  expect(acknowledged).toHaveLength(20);
  return { scene, receiver, acknowledged };
}

const meddle = async ({ config }: Scene, how: string): Promise<void> => {
  const answer = await fetch(`http://127.0.0.1:${config.port}/`, { headers: { "x-meddle": how } });
  expect(answer.status).toBe(200);
};

async function runCli(...args: string[]): Promise<string> {
  const { stdout } = await runToEnd({ command: process.execPath, args: [BIN, ...args] });
  return stdout;
}

/** Sends until the receiver takes events again; ids that it took. */
async function sendUntilTaken(scene: Scene, name: string): Promise<string[]> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const taken = (await scene.send(`${name}_${attempt}`, 1)).get(200);
    if (taken !== undefined) return taken;
    await sleep(50);
  }
  throw new Error("The receiver takes nothing again.");
}

function lostOf(file: string, acknowledged: readonly string[]): string[] {
  const { events, integrity } = readInboxFile(file);
  expect(integrity).toBe("ok");
  const ids = new Set(events.map(({ id }) => id));
  return acknowledged.filter((id) => !ids.has(id));
}

async function kill(receiver: ReceiverProcess): Promise<void> {
  receiver.signal("SIGKILL");
  expect(await receiver.ended).toEqual({ code: null, signal: "SIGKILL" });
}

async function stop(receiver: ReceiverProcess): Promise<void> {
  receiver.signal("SIGTERM");
  expect(await receiver.ended).toEqual({ code: 0, signal: null });
}

/** Codes of the store's alarms; each kind comes once a minute. */
const alarmsOf = (receiver: ReceiverProcess): unknown[] =>
  receiver.lines.filter(({ alarm }) => alarm === "store_unavailable").map(({ code }) => code);

/** Takes the files of a running receiver away, or changes them: it acknowledges nothing more, and an alarm says so. */
async function expectStops(scene: Scene, receiver: ReceiverProcess, change: (file: string) => void, code: string) {
  expect((await scene.send("before", 20)).get(200)).toHaveLength(20);
  change(scene.file);
  expect([...(await scene.send("after", 60)).keys()]).toEqual([503]);
  expect(alarmsOf(receiver)).toEqual([code]);
}

const moveAway = (file: string): void => renameSync(file, `${file}.moved`);

describe("the database file", () => {
  it.each<[string, (file: string) => void]>([
    ["deleted", (file) => rmSync(file)],
    ["moved away", moveAway],
    ["replaced by a copy", (file) => (copyFileSync(file, `${file}.copy`), renameSync(`${file}.copy`, file))],
    ["replaced by an empty file", (file) => (rmSync(file), writeFileSync(file, ""))],
    ["deleted with its WAL", (file) => (rmSync(file), rmSync(`${file}-wal`), rmSync(`${file}-shm`))],
  ])("a database file %s under a running receiver stops acknowledgements, and an alarm says so", async (_, take) => {
    const scene = await prepare();
    const receiver = await scene.start();
    await expectStops(scene, receiver, take, "store_replaced");
    await kill(receiver);
  });

  it.each([true, false])(
    "a database file that is moved away has all that was acknowledged, and it or its replacement is used (put back: %s)",
    async (isPutBack) => {
      const { scene, receiver, acknowledged: before } = await run();
      moveAway(scene.file);
      const moved = `${scene.file}.moved`;
      expect([...(await scene.send("meanwhile", 20)).keys()]).toEqual([503]);
      if (isPutBack) renameSync(moved, scene.file);
      else await kill(receiver);
      const last = isPutBack ? receiver : await scene.start();
      const after = await sendUntilTaken(scene, "after");
      await kill(last);
      expect(lostOf(isPutBack ? scene.file : moved, before)).toEqual([]);
      expect(lostOf(scene.file, after)).toEqual([]);
    },
  );

  it("the receiver stops in order without its database file, and does not touch a replacement", async () => {
    const scene = await prepare();
    const receiver = await scene.start();
    await scene.send("before", 5);
    for (const end of ["", "-wal", "-shm"]) renameSync(`${scene.file}${end}`, `${scene.file}.moved${end}`);
    expect([...(await scene.send("meanwhile", 1)).keys()]).toEqual([503]);
    writeFileSync(`${scene.file}-wal`, "of another program");
    await stop(receiver);
    expect(existsSync(`${scene.file}-wal`)).toBe(true);
  });
});

describe.runIf(process.platform === "linux")("a file that is changed in place", () => {
  it.each<[string, (file: string) => void]>([
    ["the database emptied", (file) => truncateSync(file)],
    ["the database cut off", (file) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ["the database overwritten by a copy", (file) => writeFileSync(file, readFileSync(`${file}.copy`))],
    ["the database overwritten by text", (file) => writeFileSync(file, "of another program\n".repeat(100_000))],
  ])(
    "a file that is changed in place (%s): nothing is acknowledged any more, and an alarm says so",
    async (_, change) => {
      const scene = await prepare();
      const first = await scene.start();
      await scene.send("first", 5);
      await runCli("inbox", "backup", `${scene.file}.copy`, "--db", scene.file);
      await scene.send("second", 60);
      await stop(first);
      const receiver = await scene.start();
      await expectStops(scene, receiver, change, "store_corrupt");
      await stop(receiver);
      expect(existsSync(`${scene.file}-wal`)).toBe(true);
    },
  );

  it("a file that is changed in place (a young database emptied) gets back what is in the WAL", async () => {
    const { scene, receiver, acknowledged } = await run();
    truncateSync(scene.file);
    expect([...(await scene.send("meanwhile", 20)).keys()]).toEqual([503]);
    await kill(receiver);
    const next = await scene.start();
    acknowledged.push(...((await scene.send("after", 20)).get(200) ?? []));
    expect(acknowledged).toHaveLength(40);
    await kill(next);
    expect(lostOf(scene.file, acknowledged)).toEqual([]);
  });

  it("a file that VACUUM, checkpoints or the command line compacts does not count as overwritten", async () => {
    const scene = await prepare();
    const receiver = await scene.start();
    const sqlite = new Database(scene.file);
    const lengths = new Set<number>();
    for (const sql of [
      "CREATE TABLE own (x); INSERT INTO own VALUES (zeroblob(3000000)); PRAGMA wal_checkpoint(TRUNCATE)",
      "DELETE FROM own; VACUUM; PRAGMA wal_checkpoint(PASSIVE)",
      "VACUUM; PRAGMA wal_checkpoint(RESTART)",
      "INSERT INTO own VALUES (zeroblob(20000000)); DELETE FROM own; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)",
    ]) {
      sqlite.exec(sql);
      lengths.add(statSync(scene.file).size);
      expect([...(await scene.send(`after_${sql.length}`, 10)).keys()]).toEqual([200]);
      await runCli("inbox", "stats", "--db", scene.file);
      await sleep(300);
    }
    sqlite.close();
    expect(lengths.size).toBeGreaterThan(1);
    expect(alarmsOf(receiver)).toEqual([]);
    await kill(receiver);
  });
});

describe("a database of which only the WAL is left after its receiver was killed", () => {
  it.each<[string, (file: string) => void]>([
    ["emptied", (file) => truncateSync(file)],
    ["cut to one byte", (file) => writeFileSync(file, "\n")],
    ["removed", (file) => rmSync(file)],
    [
      "removed behind symbolic links",
      (file) => {
        for (const end of ["", "-wal"]) renameSync(`${file}${end}`, `${file}.real${end}`);
        symlinkSync(basename(`${file}.real`), `${file}.link`);
        symlinkSync(`${file}.link`, file);
        rmSync(`${file}.real`);
      },
    ],
  ])("a database that was %s is refused at the next start, and its WAL stays", async (_, change) => {
    const scene = await prepare();
    const receiver = await scene.start();
    await scene.send("before", 20);
    await kill(receiver);
    const left = readFileSync(`${scene.file}-wal`);
    change(scene.file);
    await expect(runCli("inbox", "stats", "--db", scene.file)).rejects.toThrow();
    const next = createSqliteStore({ file: scene.file });
    await expect(next.open({ logger: silentLogger })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining("move the WAL and the -shm file"),
    });
    await next.close();
    const wal = [`${scene.file}-wal`, `${scene.file}.real-wal`].find((path) => existsSync(path)) ?? "none is left";
    expect(readFileSync(wal).equals(left)).toBe(true);
  });
});

describe("a receiver whose files are opened, closed or removed beside it", () => {
  it.each<[string, (scene: Scene) => unknown]>([
    ["the -wal file deleted", ({ file }) => rmSync(`${file}-wal`)],
    ["the -owner file deleted", ({ file }) => rmSync(`${file}-owner`)],
    ["opened by node:sqlite in the process", (scene) => meddle(scene, "node:sqlite")],
    ["opened by a second better-sqlite3 in the process", (scene) => meddle(scene, "a second better-sqlite3")],
    ["copied by fs.cp in the process", (scene) => meddle(scene, "fs.cp of the folder")],
  ])("no acknowledged event is lost in a crash, and the receiver opens its files again: %s", async (_, change) => {
    const { scene, receiver, acknowledged } = await run();
    await change(scene);
    acknowledged.push(...((await scene.send("between", 50)).get(200) ?? []));
    await runCli("inbox", "stats", "--db", scene.file);
    acknowledged.push(...((await scene.send("after", 50)).get(200) ?? []));
    acknowledged.push(...(await sendUntilTaken(scene, "last")));
    expect(alarmsOf(receiver)).toEqual(["store_replaced"]);
    await kill(receiver);
    expect(lostOf(scene.file, acknowledged)).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "nothing is acknowledged while a second SQLite in the process stays open and writes, and nothing acknowledged is lost",
    async () => {
      const { scene, receiver, acknowledged } = await run();
      await meddle(scene, "node:sqlite, which stays open");
      for (let round = 0; round < 8; round += 1) {
        expect([...(await scene.send(`meanwhile_${round}`, 10)).keys()]).toEqual([503]);
        await sleep(100);
      }
      expect(alarmsOf(receiver)).toEqual(["store_replaced"]);
      await meddle(scene, "the end of it");
      acknowledged.push(...(await sendUntilTaken(scene, "after")));
      expect(acknowledged).toHaveLength(21);
      await kill(receiver);
      expect(lostOf(scene.file, acknowledged)).toEqual([]);
    },
  );

  it("the next process of a rolling deploy cannot end this one after a program in the process opened and closed the file", async () => {
    const { scene, receiver, acknowledged } = await run();
    await meddle(scene, "fs.cp of the folder");
    const next = startReceiver({ ...scene.config, port: await findFreePort() });
    expect(await next.line("ready")).toBeDefined();
    acknowledged.push(...((await scene.send("after", 50)).get(200) ?? []));
    acknowledged.push(...(await sendUntilTaken(scene, "last")));
    expect(receiver.hasEnded).toBe(false);
    await kill(receiver);
    await kill(next);
    expect(lostOf(scene.file, acknowledged)).toEqual([]);
  });
});
