import * as fc from "fast-check";
import { expect } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { Lease, ParkedNote } from "#pigeonhole/store/work.js";
import { bare, newEvent, settlements, TARGETS } from "../conformance/new-event.js";
import { type Fixture, type StoreKind, type StoreUnderTest, writing } from "../conformance/fixture.js";
import { LEASE_MS, commandsOf } from "./lives.js";
import type { Model } from "./model.js";
import { countWork, operate } from "../../support/operate.js";

/** The store under test, which a crash replaces. */
export interface Real extends Pick<Fixture, "reopen" | "write" | "written">, Required<Pick<StoreUnderTest, "faults">> {
  /** The one of the stores on the data whose turn it is. */
  store: Fixture["store"];
  /** Gives the turn to the next store; returns which one that is, of all that were ever opened. */
  nextStore(): number;
}

type Command = fc.AsyncCommand<Model, Real>;

const HANDLERS = ["h", "i"];
const NOTE: ParkedNote = { reason: "unknown_type", detail: "no such type" };

async function expectEqual(model: Model, { store, faults }: Real): Promise<void> {
  expect(await faults()).toEqual([]);
  const glance = await store.glance?.({ handlers: HANDLERS, now: model.now });
  if (glance) expect(glance.due.toSorted()).toEqual(HANDLERS.filter((handler) => model.isDue(handler)));
  const { pending, retrying, ...counts } = await countWork(store, model.now);
  expect({ ...counts, pending: pending + retrying }).toMatchObject(model.counts);
  const { items } = await operate(store).listEvents({ limit: 500 });
  const newestFirst = [...model.events.values()].toSorted((a, b) => b.seq - a.seq);
  expect(items.map(({ id }) => id)).toEqual(newestFirst.map(({ id }) => id));
  for (const event of newestFirst) {
    const stored = await operate(store).getEvent(event.id);
    expect(stored?.body && Buffer.from(stored.body).toString()).toBe(event.hasBody ? event.body : null);
    expect(stored).toMatchObject({ seq: event.seq, receivedAt: isoTime(event.receivedAt) });
    expect(
      stored?.handlers.map(({ handler, state, attempts, dueAt, settledAt, reason }) => ({
        handler,
        state: state === "retrying" ? "pending" : state,
        attempts,
        dueAt,
        settledAt,
        reason,
      })),
    ).toEqual(
      [...event.work.values()]
        .map(({ handler, state, started, dueAt, discarded, settledAt, reason = null }) => ({
          handler,
          state: discarded ? "discarded" : state === "leased" ? "running" : state,
          attempts: started,
          // The end of a hold, also once it is over, until its work runs.
          dueAt: isoTime(dueAt && Math.max(dueAt, model.heldUntil({ handler, now: -Infinity }) ?? dueAt)),
          settledAt: isoTime(settledAt),
          reason,
        }))
        .toSorted((a, b) => (a.handler < b.handler ? -1 : 1)),
    );
  }
}

const { command, advance, crash } = commandsOf(expectEqual);

const newest = fc.record({ key: fc.constantFrom("k", "l"), createdAt: fc.integer({ min: 1, max: 3 }) });

const accept = fc
  .record({
    id: fc.constantFrom("evt_0", "evt_1", "acme/evt_0", "beta/evt_0", "/acme/evt_0"),
    text: fc.constantFrom("one", "two", "three"),
    leased: fc.subarray(HANDLERS),
    handlers: fc.subarray(HANDLERS),
    note: fc.boolean(),
    newest: fc.option(newest, { nil: undefined }),
  })
  .map(({ id, text, leased, handlers, note, newest: of }) =>
    command(
      `accept ${id} ${text} [${leased.join()}] of [${handlers.join()}]${note ? " noted" : ""}`,
      async (model, { store }) => {
        const leaseUntil = model.now + LEASE_MS;
        const work = handlers.map((handler) => ({
          handler,
          newest: of,
          ...(leased.includes(handler) && { leaseUntil }),
        }));
        const receivedAt = model.now;
        const event = newEvent(id, { receivedAt, body: Buffer.from(text), work, ...(note && { parked: NOTE }) });
        const result = await store.accept(event);
        expect(result).toMatchObject(model.expectAccept(id, text, { isUnderstood: !note }));
        if (result.kind === "duplicate") return;
        expect(result.seq).toBeGreaterThan(model.newestSeq);
        model.newestSeq = result.seq;
        model.accept({ id, seq: result.seq, body: text, receivedAt, signedAt: event.signedAt }, work, result.leases);
        const stored = model.events.get(id);
        if (note && stored !== undefined) model.addNote(stored);
      },
    ),
  );

const lease = fc
  .record({
    handler: fc.constantFrom(...HANDLERS),
    limit: fc.integer({ min: 2, max: 4 }),
    history: fc.integer({ min: 0, max: 2 }),
    newestFirst: fc.boolean(),
    crashedLimit: fc.integer({ min: 1, max: 2 }),
    allowCrashLooping: fc.boolean(),
  })
  .map((options) =>
    command(`lease ${JSON.stringify(options)}`, async (model, { store }) => {
      const request = { ...options, now: model.now, leaseUntil: model.now + LEASE_MS, maxBytes: 1_000 };
      model.makeHistory(request);
      const expected = model.page(request);
      const page = await store.lease(request);
      expect(
        page.work.map(({ eventId, attempt, failures, crashes, waitBegan }) => ({
          eventId,
          attempt,
          failures,
          crashes,
          waitBegan,
        })),
      ).toEqual(
        expected.map(({ event, work: { started, finished, waits = 0, waitBegan } }) => ({
          eventId: event.id,
          attempt: started + 1,
          failures: finished - waits,
          crashes: started - finished,
          waitBegan,
        })),
      );
      for (const [index, { work }] of expected.entries()) {
        const token = page.work[index]?.token ?? -1;
        Object.assign(work, {
          state: "leased",
          token,
          leaseUntil: request.leaseUntil,
          life: model.life,
          started: work.started + 1,
        });
        delete work.dueAt;
        delete work.waitsSince;
      }
      model.leases.push(...page.work.map((given) => bare(given)));
      const heldUntil = model.heldUntil(request);
      expect(page.heldUntil).toBe(heldUntil);
      expect(page.nextDueAt).toBe(heldUntil ?? model.nextDueAt(options.handler));
    }),
  );

/** A command on one of the leases given so far, most of all the last ones; many have ended. */
function onLease(name: string, step: (model: Model, real: Real, lease: Lease) => Promise<void>): fc.Arbitrary<Command> {
  return fc.nat({ max: 9 }).map((back) =>
    command(
      `${name} lease -${back}`,
      (model, real) => step(model, real, model.leases.at(-1 - (back % model.leases.length)) ?? expect.unreachable()),
      (model) => model.leases.length > 0,
    ),
  );
}

const settle = fc
  .tuple(
    fc.constantFrom(...TARGETS),
    fc.boolean(),
    fc.constantFrom(0, 1, 30_000),
    fc.constantFrom(undefined, "work", "handler"),
  )
  .chain(([to, dropSteps, delay, holds]) =>
    onLease(`settle ${to} ${dropSteps} ${holds}`, async (model, { store }, given) => {
      // As the product does: only of work that is done.
      const base = { ...settlements[to](given), dropSteps: dropSteps && to === "done" };
      const work = model.held(given);
      const wait = holds && { holds, began: work?.waitBegan ?? model.now };
      const settlement = base.to === "pending" ? { ...base, at: model.now, dueAt: model.now + delay, wait } : base;
      expect(await store.settle(settlement)).toBe(work === undefined ? "lost" : "settled");
      if (work !== undefined) model.settle(work, settlement);
    }),
  );

/** A commit of the work of these leases. */
interface Commit {
  leases: readonly Lease[];
  isThrowing: boolean;
}

/** Settles all of the work as done; none of it where one of the leases is lost, or the function throws. */
async function commitAll(model: Model, { store, write }: Real, { leases, isThrowing }: Commit): Promise<void> {
  const works = leases.flatMap((given) => model.held(given) ?? []);
  const isLost = works.length < leases.length;
  const effect = `effect ${leases.map(({ token }) => token).join()}`;
  const done = leases.map((given) => settlements.done(given));
  let called = false;
  const outcome = await store
    .commit(
      done.length === 1 ? (done[0] ?? expect.unreachable()) : done,
      writing({ write }, effect, () => {
        called = true;
        if (isThrowing) throw new Error("mine");
      }),
    )
    .then(
      () => "done",
      (error: { code?: string; message: string }) => error.code ?? error.message,
    );
  expect(outcome).toBe(isLost ? "lease_lost" : isThrowing ? "mine" : "done");
  expect(called).toBe(!isLost);
  if (isLost || isThrowing) return;
  for (const [index, work] of works.entries()) model.settle(work, done[index] ?? expect.unreachable());
  model.effects.push(effect);
}

const commit = fc
  .boolean()
  .chain((isThrowing) =>
    onLease(isThrowing ? "commit that throws" : "commit", (model, real, given) =>
      commitAll(model, real, { leases: [given], isThrowing }),
    ),
  );

/** A commit of a batch, of some of the last leases; also where one of them has ended. */
const commitBatch = fc
  .record({ backs: fc.subarray([0, 1, 2, 3, 4], { minLength: 2 }), isThrowing: fc.boolean() })
  .map(({ backs, isThrowing }) => {
    const pick = (model: Readonly<Model>): Lease[] => backs.flatMap((back) => model.leases.at(-1 - back) ?? []);
    return command(
      `commit ${isThrowing ? "that throws " : ""}leases -${backs.join(" -")}`,
      (model, real) => commitAll(model, real, { leases: pick(model), isThrowing }),
      (model) => pick(model).length === backs.length,
    );
  });

const beginNewest = newest.chain((of) =>
  onLease(`begin ${of.key} of ${of.createdAt} under`, async (model, { store }, given) => {
    const held = model.findHeld(given);
    const expected = held === undefined ? "lost" : model.beginNewest(held, of);
    expect(await store.beginNewest(given, of, model.now)).toBe(expected);
  }),
);

const release = onLease("release", async (model, { store }, given) => {
  await store.release([given], model.now);
  const held = model.findHeld(given);
  if (held !== undefined) model.release(held);
});

const renew = onLease("renew", async (model, { store }, given) => {
  const leaseUntil = model.now + 2 * LEASE_MS;
  const work = model.held(given);
  expect(await store.renew([given], leaseUntil)).toEqual(work === undefined ? [given] : []);
  if (work !== undefined) work.leaseUntil = leaseUntil;
});

const saveStep = fc.constantFrom("a", "b").chain((name) =>
  onLease(`step ${name}`, async (model, { store }, given) => {
    const work = model.held(given);
    const saved = await store.saveStep(given, name, String(given.token), model.now);
    expect(saved).toBe(work === undefined ? "lost" : "settled");
    if (work === undefined) return;
    work.steps[name] ??= String(given.token);
    expect(await store.loadSteps(given)).toEqual(work.steps);
  }),
);

const setBack = fc.constantFrom(0, 30_000, 10 * LEASE_MS).map((ms) =>
  command(`set the clock back by ${ms}`, async (model, { store }) => {
    model.now -= ms;
    const leaseUntil = model.now + LEASE_MS;
    expect(await store.restartWaits({ now: model.now, leaseUntil })).toBe(model.restartWaits(leaseUntil));
  }),
);

const recover = fc.constant(
  command("recover", async (model, { store }) => {
    expect(await store.recover(model.now)).toEqual({ owner: true, ...model.recover() });
  }),
);

/** A command on one of the events that are stored. */
function onEvent(name: string, step: (model: Model, real: Real, id: string) => Promise<void>): fc.Arbitrary<Command> {
  return fc.nat({ max: 9 }).map((number) => {
    return command(
      `${name} event ${number}`,
      (model, real) => step(model, real, [...model.events.keys()][number % model.events.size] ?? expect.unreachable()),
      (model) => model.events.size > 0,
    );
  });
}

const replan = fc.tuple(fc.subarray(HANDLERS), fc.boolean()).chain(([handlers, noted]) =>
  onEvent(`replan [${handlers.join()}]${noted ? " noted" : ""}`, async (model, { store }, id) => {
    const event = model.events.get(id) ?? expect.unreachable();
    const parked = noted ? NOTE : undefined;
    const plan = { seq: event.seq, handlers, now: model.now, ...(parked && { parked }) };
    expect(await store.replan(plan)).toBe(model.replan(event, handlers, parked));
  }),
);

const plan = fc.constantFrom(...HANDLERS).map((handler) =>
  command(`plan the history of ${handler}`, async (model, { store }) => {
    const request = { handler, handlerTypes: ["*"], by: "ann" };
    expect(await operate(store, model.now).planHistory(request)).toMatchObject(model.plan(handler));
  }),
);

const discard = onEvent("discard", async (model, { store }, id) => {
  expect((await operate(store, model.now).changeEvent("discard", id)).work).toBe(
    model.discard(model.events.get(id) ?? expect.unreachable()),
  );
});

const runEvent = onEvent("run now", async (model, { store }, id) => {
  const event = model.events.get(id) ?? expect.unreachable();
  expect((await operate(store, model.now).changeEvent("run", id)).work).toBe(model.runNow([event]));
});

const runWork = fc.constantFrom(undefined, ...HANDLERS).map((handler) =>
  command(`run all work of ${handler ?? "any handler"} now`, async (model, { store }) => {
    const ran = await operate(store, model.now).changeWork("run", { handler });
    expect(ran.work).toBe(model.runNow([...model.events.values()], handler));
  }),
);

const prune = fc
  .record({
    ids: fc.constantFrom(0, 30_000, 10 * LEASE_MS),
    bodies: fc.constantFrom(0, 30_000),
    batch: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ ids, bodies, batch }) =>
    command(`prune ${ids} ${bodies} by ${batch}`, async (model, { store }) => {
      const limits = {
        now: model.now,
        idsBefore: model.now - ids,
        bodiesBefore: model.now - bodies,
        sentBefore: 0,
        batch,
      };
      while ((await store.prune(limits)) > 0);
      model.prune(limits);
    }),
  );

const ON_ANY = [
  accept,
  accept,
  accept,
  lease,
  lease,
  settle,
  settle,
  commit,
  commitBatch,
  beginNewest,
  release,
  renew,
  saveStep,
  advance,
  setBack,
  recover,
  replan,
  plan,
  runEvent,
  runWork,
  discard,
  prune,
];

/** Commands for a store whose data ends with it, and for one that outlives a crash. */
export const commandsFor = ({ outlives }: StoreKind): fc.Arbitrary<Command>[] =>
  outlives ? [...ON_ANY, crash] : ON_ANY;
