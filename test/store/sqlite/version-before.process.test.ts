import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { openInboxFile } from "#pigeonhole/store/sqlite/open-inbox-file.js";
import { MIGRATIONS } from "#pigeonhole/store/sqlite/migrations.js";
import type { Store } from "#pigeonhole/store/store.js";
import { WORK_STATES } from "#pigeonhole/store/work-state.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { findFreePort, type ReceiverProcess, startReceiver } from "../../support/receiver-process.js";
import { readInboxFile, readUndone } from "../../support/inbox-file.js";
import { startLoad } from "../../support/load.js";
import { createScratch, SECRET } from "../../support/scratch.js";
import { ServiceSender } from "../../support/service-sender.js";
import { waitUntil } from "../../support/wait-until.js";
import { BUILT_ENTRY } from "../../simulation/package-copy.js";
import { childFile } from "../children/child.js";
import {
  DAY,
  NOTHING_TO_PRUNE,
  T,
  expectLease,
  leasePage,
  newEvent,
  settlements,
  statesOf,
} from "../conformance/fixture.js";
import { findLayoutFaults } from "./layout-invariants.js";
import { accept, acceptMany, type LayoutKit, leasedFor, loadLayoutKit, Scene } from "./layout-scene.js";
import { buildVersionBefore, hasVersionBefore, type VersionBefore } from "../../support/version-before.js";

// While a deploy rolls, the version before still works on the file that this one has migrated. It is built from the
// history.

const DIST = dirname(BUILT_ENTRY);

describe.runIf(hasVersionBefore())("with the version before", () => {
  let before: VersionBefore;
  let old: LayoutKit;
  let kit: LayoutKit;

  beforeAll(async () => {
    before = buildVersionBefore("workWithoutRow");
    old = await loadLayoutKit(before.dist);
    kit = await loadLayoutKit(DIST);
  }, 60_000);
  afterAll(() => before.remove());

  function newScene(first: LayoutKit): Scene {
    const scene = new Scene(first);
    onTestFinished(() => scene.dispose());
    return scene;
  }

  test("every reader shows the same for the same history, in the process and outside", async () => {
    const views = await Promise.all(
      [old, kit].map(async (version) => {
        const scene = newScene(version);
        const store = await scene.open();
        await liveThrough(store);
        const dist = version === old ? before.dist : DIST;
        const alive = [await viewInside(store), await viewBeside(dist, scene.file)];
        const next = await scene.reopen(store);
        return { alive, afterDeath: [await viewInside(next), await viewBeside(dist, scene.file)] };
      }),
    );
    expect(asJson(views[1])).toMatchObject(asJson(views[0]));
  });

  test("a file is migrated at the start, and its done marks and events are kept, page by page", async () => {
    const scene = newScene(old);
    const store = await scene.open();
    // Long, so that the done marks fill pages of their own.
    const handler = "h".repeat(400);
    const events = Array.from({ length: 1_000 }, (_, index) => [`evt_${index + 1}`, leasedFor(handler)] as const);
    await settleAll(store, await accept(store, Object.fromEntries(events)));
    const [failed, inFlight] = await acceptMany(store, 2, 1_001);
    await store.settle(settlements.pending(expectLease(failed)));
    await store.close();
    const pages = readPages(scene.file);
    const done = scene.look("SELECT * FROM inbox_done");
    const next = await scene.openBeside(kit);
    await next.close();
    const changed = readPages(scene.file)
      .slice(0, pages.length)
      .filter((page, index) => pages[index] !== page);
    expect(pages.length).toBeGreaterThan(100);
    expect(changed.length).toBeLessThan(30);
    expect(scene.look("SELECT * FROM inbox_done")).toEqual(done);
    expect(scene.marks()).toEqual([]);

    const last = await scene.open({ kit });
    expect(await last.counts(T)).toMatchObject({ done: 1_000, pending: 2, leased: 0 });
    expect((await leasePage(last)).work).toMatchObject([{ seq: expectLease(inFlight).seq, attempt: 2, crashes: 1 }]);
    for (const seq of [1, 1_000]) expect(await last.replan({ seq, handlers: [handler], now: T })).toBe(0);
  });

  test("the version before refuses a migrated file with what to do, and does not change it", async () => {
    const scene = newScene(kit);
    const store = await scene.open();
    await settleAll(store, await acceptMany(store, 2));
    await store.close();
    const pages = readPages(scene.file);
    await expect(scene.openBeside(old)).rejects.toMatchObject({
      code: "schema_too_new",
      message: expect.stringMatching(/schema version \d+.*Install the newer package again\./),
    });
    expect(readPages(scene.file)).toEqual(pages);
    expect(await statesOf(await scene.open(), "evt_1")).toEqual({ h: "done" });
  });

  test("the rows that the version before writes to the migrated file are understood", async () => {
    const scene = newScene(old);
    const store = await scene.open();
    const [done, failed, dead, committed, stepped, given, inFlight] = await acceptMany(store, 7);
    const beside = await scene.openBeside(kit);
    await settleAll(store, [expectLease(done)]);
    await store.settle(settlements.pending(expectLease(failed)));
    await store.settle(settlements.dead(expectLease(dead)));
    await store.commit(settlements.done(expectLease(committed)), () => undefined);
    await store.saveStep(expectLease(stepped), "first", "1", T);
    await store.release([expectLease(given)], T);
    await acceptMany(store, 2, 8);
    await accept(beside, { evt_10: {}, evt_11: { work: [{ handler: "h" }] } });
    expect(await beside.accept(newEvent("evt_9"))).toMatchObject({ kind: "duplicate" });
    expect(await store.accept(newEvent("evt_10"))).toMatchObject({ kind: "duplicate" });
    expect(await states(beside)).toEqual([
      "evt_1 done",
      "evt_2 pending",
      "evt_3 dead",
      "evt_4 done",
      "evt_5 leased",
      "evt_6 pending",
      "evt_7 leased",
      "evt_8 leased",
      "evt_9 leased",
      "evt_10 leased",
      "evt_11 pending",
    ]);

    await store.close();
    expect(await beside.recover(T)).toEqual({ owner: true, recovered: 5, parked: 0 });
    expect(await beside.loadSteps(expectLease(stepped))).toEqual({ first: "1" });
    const { work } = await leasePage(beside);
    expect(work.map(({ seq, crashes }) => [seq, crashes])).toEqual([5, 7, 8, 9, 10].map((seq) => [seq, 1]));
    expect(expectLease(inFlight).seq).toBe(7);
    await settleAll(beside, work);
    await acceptMany(beside, 1, 12);
    expect(await statesOf(beside, "evt_12")).toEqual({ h: "leased" });
    expect(findLayoutFaults(scene)).toEqual([]);
  });

  test("the version before does not settle what this one has taken over", async () => {
    const scene = newScene(old);
    const store = await scene.open();
    const [first, second] = await acceptMany(store, 2);
    await scene.openBeside(kit);
    const taking = await loseLock(scene, kit);
    const { work } = await leasePage(taking);
    expect(await store.settle(settlements.done(expectLease(first)))).toBe("lost");
    await expect(store.commit(settlements.done(expectLease(second)), () => expect.unreachable())).rejects.toMatchObject(
      {
        code: "lease_lost",
      },
    );
    await settleAll(taking, work);
    expect(scene.look("SELECT seq FROM inbox_done")).toEqual([{ seq: 1 }, { seq: 2 }]);
  });

  test("the version before runs nothing twice that is leased or marked, and loses no number", async () => {
    const scene = newScene(old);
    const beside = await scene.openBeside();
    const store = await scene.open({ kit });
    const [marked, inFlight] = await accept(store, { evt_1: {}, evt_2: {}, evt_3: { work: [{ handler: "h" }] } });
    await settleAll(store, [expectLease(marked)]);
    for (const seq of [1, 2]) expect(await beside.replan({ seq, handlers: ["h"], now: T })).toBe(0);
    for (const id of ["evt_1", "evt_2"]) expect(await beside.discard(id, T)).toBe(0);
    for (const id of ["evt_1", "evt_2", "evt_3"]) {
      expect(await beside.accept(newEvent(id))).toMatchObject({ kind: "duplicate" });
    }
    await settleAll(store, [expectLease(inFlight)]);
    const { work } = await leasePage(store);
    expect(work.map(({ seq }) => seq)).toEqual([3]);
    await settleAll(store, work);

    await beside.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY });
    expect(scene.look("SELECT seq FROM inbox_event")).toEqual([]);
    await acceptMany(store, 1, 4);
    await store.close();
    expect(await states(await scene.open({ kit }))).toEqual(["evt_4 pending"]);
  });

  test("a retry requested with this version waits while the version before runs, and ends when that reads the event", async () => {
    const scene = newScene(old);
    const store = await scene.open();
    const parked = { reason: "unknown_type", detail: "no such type" };
    await accept(store, { evt_1: { work: [], parked }, evt_2: { work: [], parked }, evt_3: {} });
    const beside = await scene.openBeside(kit);
    for (const seq of [1, 2]) expect(await beside.requestRetry(seq, T)).toBe(true);
    expect(await store.listStuck({ state: "parked", limit: 9, afterSeq: 0 })).toHaveLength(2);
    expect(await store.replan({ seq: 1, handlers: ["h"], now: T })).toBe(1);
    await store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY, bodiesBefore: T + DAY });
    await store.close();

    expect(await beside.recover(T)).toMatchObject({ owner: true });
    expect(await beside.listRequested({ limit: 9, afterSeq: 0 })).toEqual([{ seq: 2, id: "evt_2" }]);
    expect(await beside.replan({ seq: 1, handlers: ["h"], now: T, requested: true })).toBe(0);
    expect(await beside.replan({ seq: 2, handlers: ["h"], now: T, requested: true })).toBe(1);
    expect(findLayoutFaults(scene)).toEqual([]);
  });

  test("work that this version had leased when it died waits while the version before runs, and is run once", async () => {
    const scene = newScene(old);
    const beside = await scene.openBeside();
    const dying = await scene.open({ kit });
    const leases = await acceptMany(dying, 4);
    await settleAll(dying, leases.slice(0, 1));
    await dying.renew(leases.slice(3), T + DAY);
    await dying.close();
    // It knows rows only.
    expect(await beside.recover(T)).toEqual({ owner: true, recovered: 1, parked: 0 });
    const { work } = await leasePage(beside);
    expect(work.map(({ seq, crashes }) => [seq, crashes])).toEqual([[4, 1]]);
    await settleAll(beside, work);
    await settleAll(beside, await acceptMany(beside, 2, 5));
    await acceptMany(beside, 1, 7);
    await beside.close();

    const next = await scene.openBeside(kit);
    expect(await next.recover(T)).toEqual({ owner: true, recovered: 3, parked: 0 });
    const rest = await leasePage(next);
    expect(rest.work.map(({ seq, crashes }) => [seq, crashes])).toEqual([2, 3, 7].map((seq) => [seq, 1]));
    await settleAll(next, rest.work);
    expect(await next.counts(T)).toMatchObject({ pending: 0, leased: 0, done: 7 });
    expect(findLayoutFaults(scene)).toEqual([]);
  });

  test("a start that is killed at any statement leaves a file that the next start migrates", async () => {
    const scene = newScene(old);
    const store = await scene.open();
    await settleAll(store, (await acceptMany(store, 3)).slice(0, 1));
    await store.close();
    const versions = new Set<unknown>();
    // It looks for damage before.
    for (let statement = 50; statement <= 74; statement += 3) {
      const at = scene.copy();
      expect(() =>
        execFileSync(process.execPath, [childFile("die-at-statement"), at.file, at.log, "b", `${statement}`]),
      ).toThrow();
      versions.add(at.look("PRAGMA user_version")[0]?.["user_version"]);
      const next = await at.openBeside(kit);
      expect(await next.recover(T)).toMatchObject({ owner: true, parked: 0 });
      expect(await states(next)).toEqual(["evt_1 done", "evt_2 pending", "evt_3 pending"]);
      expect(at.rows()).toMatchObject([
        { started: 1, finished: 0 },
        { started: 1, finished: 0 },
      ]);
      expect(findLayoutFaults(at)).toEqual([]);
      await next.close();
    }
    expect([...versions]).toEqual([1, MIGRATIONS.length]);
  }, 60_000);

  test("a deploy of both versions under load loses and repeats nothing, even if each is killed", async () => {
    const { file } = createScratch();
    const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
    const start = async (place: number, program?: string): Promise<ReceiverProcess> => {
      const handlers = { one: { kind: "commit" }, two: { kind: "commit" } } as const;
      const config = { file, port: ports[place] ?? 0, secret: SECRET, concurrency: 4, handlers };
      const started = startReceiver(config, {}, program);
      expect(await started.line("ready")).toBeDefined();
      return started;
    };
    const first = await start(0, before.receiver);
    const second = await start(1, before.receiver);
    /** Places of the processes that the balancer knows. */
    let balanced = [0];
    const sender = new ServiceSender({
      secret: SECRET,
      port: (attempt, id) => ports[balanced[(attempt + Number(id.split("_")[1])) % balanced.length] ?? 0] ?? 0,
      random: Math.random,
    });
    const load = startLoad({
      sender,
      tasks: () => ({ one: { waitMs: 5 }, two: { waitMs: 10 } }),
      burst: () => 6,
      pauseMs: () => 30,
      twiceEvery: 3,
    });
    const underLoad = async (places: number[]): Promise<void> => {
      balanced = places;
      const { length } = load.events;
      await waitUntil("events come in", 20_000, () => load.events.length >= length + 60);
    };
    const killUntil = async (victim: ReceiverProcess, heir: ReceiverProcess, place: number): Promise<void> => {
      victim.signal("SIGKILL");
      await victim.ended;
      balanced = [place];
      const hasTakenOver = (): boolean => readInboxFile(file).effects.some(({ pid }) => pid === heir.pid);
      await waitUntil("the heir runs handlers", 20_000, hasTakenOver);
    };

    await underLoad([0]);
    const third = await start(2);
    await underLoad([0, 2]);
    // It stands by and writes nothing; halted, it leaves the file to the new version.
    process.kill(second.pid, "SIGSTOP");
    await killUntil(first, third, 2);
    process.kill(second.pid, "SIGCONT");
    await underLoad([1, 2]);
    await killUntil(third, second, 1);
    const fourth = await start(2);
    await underLoad([1, 2]);
    await killUntil(second, fourth, 2);
    const delivered = await load.stop();
    sender.close();
    await waitUntil("all is done", 30_000, () => readUndone(file).length === 0);

    expect(delivered.filter((delivery) => !delivery.delivered)).toEqual([]);
    const { effects, done, integrity } = readInboxFile(file);
    const expected = load.events.flatMap(({ id }) => [`${id} one`, `${id} two`]).toSorted();
    expect(effects.map(({ id, handler }) => `${id} ${handler}`).toSorted()).toEqual(expected);
    expect(done.map(({ id, handler }) => `${id} ${handler}`).toSorted()).toEqual(expected);
    expect(integrity).toBe("ok");
    fourth.signal("SIGTERM");
    expect(await fourth.ended).toEqual({ code: 0, signal: null });
  }, 120_000);
});

const asJson = (value: unknown): object => JSON.parse(JSON.stringify(value)) as object;

const readPages = (file: string): string[] => {
  const bytes = readFileSync(file);
  return Array.from({ length: Math.ceil(bytes.length / 4096) }, (_, page) =>
    bytes.toString("latin1", page * 4096, (page + 1) * 4096),
  );
};

async function settleAll(store: Store, leases: readonly Lease[]): Promise<void> {
  const bare = leases.map(({ seq, handler, token }) => ({ seq, handler, token }));
  const results = await Promise.all(bare.map((lease) => store.settle(settlements.done(lease))));
  expect(results).toEqual(leases.map(() => "settled"));
}

/** Id and state of each event, oldest first. */
async function states(store: Store): Promise<string[]> {
  const { items } = await store.list({ limit: 500 });
  return items.map(({ id, state }) => `${id} ${state}`).toReversed();
}

/** Another process takes the file over although its owner lives. */
async function loseLock(scene: Scene, kit: LayoutKit): Promise<Store> {
  const store = await scene.openBeside(kit);
  const db = kit.openDatabase(scene.file);
  const input = { now: T, everything: true, takeOver: true, epoch: undefined };
  kit.createInboxDatabase(db).runBatch({ commands: [{ op: "recover", input }], bodies: new Uint8Array(0), ended: [] });
  db.close();
  return store;
}

/** Events in every state that there is, with one handler and several. */
async function liveThrough(store: Store): Promise<void> {
  const note = { reason: "unknown_type", detail: "no such type" };
  const leases = await accept(store, {
    done: {},
    failed: { type: "email.sent" },
    dead: leasedFor("h", "i"),
    parked: {},
    released: {},
    renewed: { receivedAt: T - 5 },
    committed: {},
    in_flight: leasedFor("h", "i"),
    half: leasedFor("h", "i"),
    twice: leasedFor("h", "i"),
    mixed: { work: [...leasedFor("h").work, { handler: "i" }] },
    stepped: {},
    discarded: { work: [{ handler: "h" }] },
    discarded_dead: {},
    replanned: {},
    retried: {},
    waits: { work: [{ handler: "h" }, { handler: "i" }] },
    nobody: { work: [] },
    noted: { work: [], parked: note },
    noted_too: { work: [], parked: note },
  });
  const seqs = new Map<string, number>();
  for (const { id } of (await store.list({ limit: 500 })).items) seqs.set(id, (await store.get(id))?.seq ?? 0);
  const of = (id: string, handler = "h"): Lease =>
    expectLease(leases.find((lease) => lease.seq === seqs.get(id) && lease.handler === handler));
  await Promise.all([
    settleAll(store, [of("done"), of("half"), of("twice"), of("twice", "i"), of("replanned")]),
    store.settle(settlements.pending(of("failed"))),
    store.settle(settlements.dead(of("dead"))),
    store.settle(settlements.parked(of("parked"))),
    store.settle(settlements.dead(of("discarded_dead"))),
    store.settle(settlements.dead(of("retried"))),
  ]);
  await store.release([of("released")], T);
  await store.renew([of("renewed")], T + DAY);
  await store.commit(settlements.done(of("committed")), () => undefined);
  await store.saveStep(of("stepped"), "first", "1", T);
  await store.settle({ ...settlements.done(of("stepped")), dropSteps: true });
  for (const id of ["discarded", "discarded_dead", "noted_too", "in_flight", "done"]) await store.discard(id, T + 7);
  for (const id of ["replanned", "retried", "in_flight", "nobody"]) {
    await store.replan({ seq: seqs.get(id) ?? 0, handlers: ["h", "j"], now: T + 8 });
  }
}

/** What a store tells of its contents. */
async function viewInside(store: Store): Promise<unknown> {
  const lists = [undefined, ...WORK_STATES].map((state) => store.list(state === undefined ? { limit: 7 } : { state }));
  const stuck = (["dead", "parked"] as const).map((state) => store.listStuck({ state, limit: 9, afterSeq: 0 }));
  const ids = (await store.list({ limit: 500 })).items.map(({ id }) => id);
  return {
    counts: await store.counts(T + 10),
    lists: await Promise.all(lists),
    stuck: await Promise.all(stuck),
    sent: await store.list({ type: "email.sent" }),
    events: await Promise.all(ids.map((id) => store.get(id))),
  };
}

/** What the commands and the page show of the file. */
async function viewBeside(dist: string, file: string): Promise<unknown> {
  const [now, before] = [join(dist, "store/sqlite/open-inbox-file.js"), join(dist, "store/open-inbox-file.js")];
  const module = (await import(pathToFileURL(existsSync(now) ? now : before).href)) as {
    openInboxFile: typeof openInboxFile;
  };
  const inbox = await module.openInboxFile(file, { now: () => T + 10 });
  try {
    return {
      overview: await inbox.overview(),
      counts: await inbox.countLists(),
      lists: await Promise.all(WORK_STATES.map((state) => inbox.listEvents({ state }))),
    };
  } finally {
    await inbox.close();
  }
}
