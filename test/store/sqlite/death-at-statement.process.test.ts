import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { Store } from "#pigeonhole/store/store.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { childFile } from "../children/child.js";
import { context, DAY, settlements, T } from "../conformance/new-event.js";
import { leasePage } from "../conformance/lease-page.js";
import { FAULTS_IN_FILE } from "../layout-faults.js";
import { makeFolder } from "../../support/folder.js";
import { readRows } from "../../support/inbox-file.js";
import { countWork } from "../../support/operate.js";

/** DEATHS=all: at every statement of the life; otherwise so many, evenly spread. */
const DEATHS = process.env["DEATHS"] ?? "24";

interface Work {
  state: string;
  started: number;
  finished: number;
}

interface Change extends Partial<Work> {
  id?: string;
  handler?: string;
  /** The handler whose pending work may have been leased. */
  lease?: string;
  step?: boolean;
}

type Line =
  | { ask: number; changes: Change[] }
  | { ack: number }
  | { seen: Work & { id: string; handler: string } }
  | { statements: number };

/** What the log of a process allows the file to hold. */
interface Told {
  accepted: Set<string>;
  asked: Set<string>;
  /** By "id handler": what it certainly became, and what it may have become since nobody was answered. */
  work: Map<string, (Work | "absent")[]>;
  steps: Set<string>;
}

test("a process that is killed at any statement loses nothing that it answered, and repeats no effect", async () => {
  const folder = makeFolder();
  const base = join(folder, "base");
  mkdirSync(base);
  createEffectTable(join(base, "inbox.db"));
  // The first life leaves work in flight, rows and marks; the second one is the one that ends early.
  await live(base, "a");
  const whole = copy(base, join(folder, "whole"));
  await live(whole, "b");
  const statements = readLog(whole).flatMap((line) => ("statements" in line ? [line.statements] : []))[1] ?? 0;
  expect(statements).toBeGreaterThan(150);
  const deaths = placesOf(statements, DEATHS);
  await eachInPair(deaths, async (place) => {
    const at = copy(base, join(folder, `at-${place}`));
    await live(at, "b", place);
    await check(at, `killed at statement ${place} of ${statements}`);
    rmSync(at, { recursive: true });
  });
}, 600_000);

const placesOf = (statements: number, deaths: string): number[] => {
  const count = deaths === "all" ? statements : Math.min(statements, Number(deaths));
  return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * statements) / count));
};

async function eachInPair(places: readonly number[], use: (place: number) => Promise<void>): Promise<void> {
  const left = [...places];
  const work = async (): Promise<void> => {
    for (let place = left.shift(); place !== undefined; place = left.shift()) await use(place);
  };
  await Promise.all([work(), work()]);
}

function createEffectTable(file: string): void {
  const db = new Database(file);
  db.exec("CREATE TABLE effect (id TEXT, handler TEXT)");
  db.close();
}

/** By a process of its own: a copy made here would end the locks that SQLite has on the file. */
function copy(from: string, to: string): string {
  execFileSync("cp", ["-r", from, to]);
  return to;
}

function live(folder: string, life: string, last?: number): Promise<void> {
  const args = [childFile("die-at-statement"), join(folder, "inbox.db"), join(folder, "log"), life, String(last ?? "")];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, _, stderr) =>
      error?.signal === "SIGKILL" ? resolve() : reject(new Error(`The process was not killed: ${stderr}`)),
    );
  });
}

function readLog(folder: string): Line[] {
  const path = join(folder, "log");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

function readTold(lines: readonly Line[]): Told {
  const told: Told = { accepted: new Set(), asked: new Set(), work: new Map(), steps: new Set() };
  for (const [index, line] of lines.entries()) {
    if ("seen" in line) {
      const { id, handler, ...work } = line.seen;
      told.work.set(`${id} ${handler}`, [work]);
    }
    if (!("ask" in line)) continue;
    // The numbers of the second life begin again.
    const isAcknowledged = isAnswered(lines.slice(index), line.ask);
    for (const change of line.changes) applyChange(told, change, isAcknowledged);
  }
  return told;
}

function isAnswered(lines: readonly Line[], ask: number): boolean {
  const end = lines.findIndex((line, place) => place > 0 && "ask" in line && line.ask === ask);
  return lines.slice(0, end === -1 ? undefined : end).some((line) => "ack" in line && line.ack === ask);
}

function applyChange(told: Told, change: Change, isAcknowledged: boolean): void {
  const { id, handler, lease, step, state, started = 0, finished = 0 } = change;
  if (lease !== undefined) {
    if (!isAcknowledged) allowLease(told, lease);
    return;
  }
  if (id === undefined) return;
  if (handler === undefined) {
    told.asked.add(id);
    if (isAcknowledged) told.accepted.add(id);
    return;
  }
  const name = `${id} ${handler}`;
  if (step === true && isAcknowledged) told.steps.add(name);
  if (state === undefined) return;
  const before = told.work.get(name) ?? ["absent"];
  const after: Work = { state, started, finished };
  told.work.set(name, isAcknowledged ? [after] : [...before, after]);
}

/** Without an answer, what was pending for the handler may have been leased. */
function allowLease(told: Told, handler: string): void {
  for (const [name, options] of told.work) {
    if (!name.endsWith(` ${handler}`)) continue;
    const leased = options.flatMap((work) =>
      work === "absent" || work.state === "done" || work.state === "dead"
        ? []
        : [{ ...work, started: work.started + 1 }],
    );
    told.work.set(name, [...options, ...leased]);
  }
}

/** What the work is once the next process has recovered it. */
function afterDeath(work: Work | "absent"): string {
  if (work === "absent") return "absent";
  if (work.state === "done") return `done, ${work.started} runs`;
  const state = work.state === "leased" ? "pending" : work.state;
  return `${state}, ${work.started} runs, ${work.finished} failed`;
}

async function check(folder: string, what: string): Promise<void> {
  const file = join(folder, "inbox.db");
  const told = readTold(readLog(folder));
  const store = createSqliteStore({ file, thread: false });
  await store.open(context);
  const look = <Row>(sql: string): Row[] => readRows(file, sql);
  try {
    await store.recover(T);
    expect(look(FAULTS_IN_FILE), what).toEqual([]);
    expect(look("PRAGMA integrity_check"), what).toEqual([{ integrity_check: "ok" }]);
    const found = readWork(look);
    checkEvents(told, look<{ id: string }>("SELECT id FROM inbox_event JOIN inbox_body USING (seq)"), what);
    for (const [name, options] of told.work) {
      expect(options.map(afterDeath), `${what}: ${name}`).toContain(found.get(name) ?? "absent");
    }
    for (const name of told.steps) {
      if (found.get(name)?.startsWith("done") === true) continue;
      const kept = look<{ name: string }>(
        "SELECT e.id || ' ' || s.handler AS name FROM inbox_step AS s JOIN inbox_event AS e USING (seq)",
      );
      expect(kept, what).toContainEqual({ name });
    }
    const isDone = (name: string): boolean => found.get(name)?.startsWith("done") === true;
    const effects = look<{ name: string }>("SELECT id || ' ' || handler AS name FROM effect").map(({ name }) => name);
    const committed = [...found.keys()].filter((name) => name.endsWith(" c") && isDone(name));
    expect(effects.toSorted(), `${what}: effects are those of done marks`).toEqual(committed.toSorted());
    await runTheRest(store, new Set([...found.keys()].filter(isDone)), what);
    expect(look(FAULTS_IN_FILE), what).toEqual([]);
  } finally {
    await store.close();
  }
}

function checkEvents(told: Told, stored: readonly { id: string }[], what: string): void {
  const ids = stored.map(({ id }) => id);
  for (const id of told.accepted) expect(ids, `${what}: answered and stored`).toContain(id);
  for (const id of ids) expect([...told.asked], what).toContain(id);
}

/** Each pair of event and handler in the file, in words. */
function readWork(look: <Row>(sql: string) => Row[]): Map<string, string> {
  const rows = look<{ name: string; what: string }>(`
    SELECT e.id || ' ' || w.handler AS name, w.state || ', ' || w.started || ' runs' || iif(state = 'done', '', ', ' || w.finished || ' failed') AS what
    FROM inbox_work AS w JOIN inbox_event AS e USING (seq)`);
  return new Map(rows.map(({ name, what }) => [name, what]));
}

/** All that is pending runs once more, and nothing that was done does. */
async function runTheRest(store: Store, done: ReadonlySet<string>, what: string): Promise<void> {
  const ran = new Set<string>();
  for (const handler of ["h", "i", "c"]) {
    for (;;) {
      const { work } = await leasePage(store, { handler, now: T + DAY, leaseUntil: T + 2 * DAY });
      if (work.length === 0) break;
      for (const lease of work) {
        const name = `${lease.eventId} ${handler}`;
        expect(done.has(name) || ran.has(name), `${what}: ${name} runs twice`).toBe(false);
        ran.add(name);
        expect(await store.settle(settlements.done(lease)), what).toBe("settled");
      }
    }
  }
  expect(await countWork(store, T), what).toMatchObject({ pending: 0, running: 0 });
}
