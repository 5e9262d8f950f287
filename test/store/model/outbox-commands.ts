import * as fc from "fast-check";
import { expect } from "vitest";
import { isoTime } from "#pigeonhole/base/iso-time.js";
import type { EventResult, FrozenSend } from "#pigeonhole/store/outbox.js";
import { CONTACT_EVENT_STATES } from "#pigeonhole/store/state-words.js";
import { NOTHING_TO_PRUNE } from "../conformance/new-event.js";
import { acceptLeased } from "../conformance/lease-page.js";
import { type StoreKind } from "../conformance/fixture.js";
import type { Real } from "./commands.js";
import { LEASE_MS, commandsOf } from "./lives.js";
import type { ModelSend, OutboxModel } from "./outbox-model.js";
import { countOutbox, operate, retryOutbox } from "../../support/operate.js";

export type RealOutbox = Pick<Real, "store" | "reopen" | "nextStore">;

type Command = fc.AsyncCommand<OutboxModel, RealOutbox>;

const names = fc.integer({ min: 0, max: 11 }).map((number) => `event_${number}`);

async function expectEqual(model: OutboxModel, { store }: RealOutbox): Promise<void> {
  expect(await countOutbox(store)).toEqual(model.counts);
  const glance = await store.glance?.({ handlers: [], now: model.now });
  if (glance) expect(glance.contactEvents).toBe(model.mayCall);
  for (const state of CONTACT_EVENT_STATES) {
    const { items } = await operate(store).listContactEvents({ state, limit: 500 });
    const listed = items.toReversed().map(({ key }) => key);
    expect(listed, state).toEqual(model.in(state).map(({ key }) => key));
  }
  const { items } = await operate(store).listContactEvents({ limit: 500 });
  expect(items.toReversed()).toMatchObject(
    model.events.map((event) => ({
      ...event,
      occurredAt: isoTime(event.occurredAt),
      recordedAt: isoTime(event.recordedAt),
      settledAt: isoTime(event.settledAt),
      state: model.shownState(event),
    })),
  );
  expectOnce(model);
}

const { command, advance, crash } = commandsOf(expectEqual);

/** What it is all for: no event is at the service twice, and no key was used for something else. */
function expectOnce({ service }: OutboxModel): void {
  expect(service.stored).toHaveLength(new Set(service.stored).size);
  expect(service.reused).toEqual([]);
}

const record = names.map((name) =>
  command(`record ${name}`, async (model, { store }) => {
    const key = model.keyOf(name);
    const isKnown = model.find(key) !== undefined;
    const event = { key, body: JSON.stringify({ key }), occurredAt: model.now };
    if (!isKnown) model.record(event);
    expect(await store.record({ ...event, isTimeGiven: true }, model.now)).toBe(isKnown ? "known" : "recorded");
  }),
);

const handle = fc.integer({ min: 1, max: 3 }).map((count) =>
  command(`handle an event and record ${count}`, async (model, { store }) => {
    const keys = Array.from({ length: count }, () => model.nextRunKey());
    const records = keys.map((key) => ({ key, body: JSON.stringify({ key }), occurredAt: model.now }));
    const lease = await acceptLeased(store, keys[0] ?? "");
    const run = { ...lease, at: model.now, dropSteps: false };
    expect(await store.settle({ ...run, to: "done", records })).toBe("settled");
    expect(await store.settle({ ...run, to: "done", records })).toBe("lost");
    for (const event of records) model.record(event);
  }),
);

const conflict = names.map((name) =>
  command(
    `record another ${name}`,
    async (model, { store }) => {
      const event = { key: model.keyOf(name), body: "{}", occurredAt: model.now, isTimeGiven: true };
      expect(await store.record(event, model.now)).toBe("conflict");
    },
    (model) => model.find(model.keyOf(name)) !== undefined,
  ),
);

const lease = fc.integer({ min: 1, max: 4 }).map((limit) =>
  command(`lease ${limit}`, async (model, { store }) => {
    const request = { now: model.now, leaseUntil: model.now + LEASE_MS, limit };
    const { open } = model;
    const page = await store.leaseSend(request);
    if (open !== undefined && open.freeAt > model.now) {
      expect(page).toEqual({ send: undefined, nextDueAt: open.freeAt });
      return;
    }
    expect(page.nextDueAt).toBeUndefined();
    if (open === undefined) freeze(model, page.send, request.leaseUntil, model.together(limit));
    else leaseAgain(model, page.send ?? expect.unreachable(), request.leaseUntil, open);
  }),
);

function freeze(
  model: OutboxModel,
  given: FrozenSend | undefined,
  freeAt: number,
  members: ModelSend["members"],
): void {
  expect(given?.events.map(({ body }) => body) ?? []).toEqual(members.map(({ body }) => body));
  if (given === undefined) return;
  const [first] = members;
  expect(given).toMatchObject({ attempt: 1, kind: members.length === 1 ? "single" : "batch" });
  if (members.length === 1) expect(given.key).toBe(first?.key);
  model.freeze({ members, state: "leased", freeAt, attempt: 1, life: model.life, given });
  model.given.push(given);
}

function leaseAgain(model: OutboxModel, given: FrozenSend, freeAt: number, open: ModelSend): void {
  const { token, ...rest } = given;
  expect(model.given.map((earlier) => earlier.token)).not.toContain(token);
  expect({ ...rest, token: 0 }).toEqual({ ...open.given, token: 0, attempt: open.attempt + 1 });
  Object.assign(open, { state: "leased", freeAt, attempt: open.attempt + 1, life: model.life, given });
  model.given.push(given);
}

/** A command on one of the calls given so far, most of all the last ones; the leases of many have ended. */
function onCall(
  name: string,
  step: (model: OutboxModel, real: RealOutbox, call: FrozenSend, held: ModelSend | undefined) => Promise<void>,
): fc.Arbitrary<Command> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 4 }) }).map((back) =>
    command(
      `${name} call -${back}`,
      (model, real) => {
        const call = model.given.at(-1 - back) ?? expect.unreachable();
        return step(model, real, call, model.held(call));
      },
      (model) => model.given.length > back,
    ),
  );
}

async function settle(real: RealOutbox, model: OutboxModel, call: FrozenSend, results: EventResult[]): Promise<void> {
  const held = model.held(call);
  const { send, token } = call;
  const outcome = await real.store.settleSend({ send, token, at: model.now, to: "settled", results });
  expect(outcome).toBe(held === undefined ? "lost" : "settled");
  if (held !== undefined) model.settle(held, results);
}

const answer = fc.tuple(fc.subarray([0, 1, 2, 3]), fc.boolean()).chain(([refusedAt, isAgain]) =>
  onCall(`answer, but [${refusedAt.join()}] ${isAgain ? "again" : "dead"},`, async (model, real, call, held) => {
    const stored = held === undefined ? [] : model.service.take(call, refusedAt);
    const results = call.events.map(({ seq }, position): EventResult => {
      if (stored[position] === true) return { seq, to: "done", remoteId: `cev_${seq}`, replayed: false };
      return isAgain ? { seq, to: "again" } : deadResult(seq);
    });
    await settle(real, model, call, results);
  }),
);

const deadResult = (seq: number): EventResult => ({
  seq,
  to: "dead",
  reason: "refused",
  code: "contact_not_found",
  param: "contactId",
  message: "There is no such contact.",
});

/** The service refuses a body for its shape, and so has never taken anything of it. */
const refuseWhole = fc.nat({ max: 3 }).chain((culprit) =>
  onCall(`refuse event ${culprit} and so the whole of`, async (model, real, call) => {
    if (model.service.knows(call)) return;
    const results = call.events.map(({ seq }, position): EventResult => {
      return position === culprit ? deadResult(seq) : { seq, to: "again" };
    });
    await settle(real, model, call, results);
  }),
);

const fail = fc.tuple(fc.boolean(), fc.constantFrom(0, 1, 30_000)).chain(([arrives, delay]) =>
  onCall(arrives ? "lose the answer to" : "fail", async (model, { store }, call, held) => {
    if (arrives && held !== undefined) model.service.take(call);
    const { send, token } = call;
    const dueAt = model.now + delay;
    const outcome = await store.settleSend({ send, token, at: model.now, to: "pending", dueAt, error: "no answer" });
    expect(outcome).toBe(held === undefined ? "lost" : "settled");
    if (held !== undefined) Object.assign(held, { state: "pending", freeAt: dueAt });
  }),
);

/** The call gets there, and then the sender reports nothing. */
const arrive = onCall("silently take", async (model, _real, call, held) => {
  if (held !== undefined) model.service.take(call);
});

const giveUp = fc.constantFrom("refused" as const, "too_old" as const).chain((reason) =>
  onCall(`give up as ${reason}`, async (model, { store }, call, held) => {
    const fault = { reason, code: undefined, param: undefined, message: "no use" };
    const { send, token } = call;
    const outcome = await store.settleSend({ send, token, at: model.now, to: "dead", ...fault });
    expect(outcome).toBe(held === undefined ? "lost" : "settled");
    if (held !== undefined) model.giveUp(held, { reason, message: fault.message });
  }),
);

/** A command on an event that is dead, or else on any. */
function onEvent(name: string, step: (model: OutboxModel, real: RealOutbox, key: string) => Promise<void>) {
  return fc.nat({ max: 11 }).map((number) =>
    command(
      `${name} ${number}`,
      (model, real) => {
        const dead = model.events.filter(({ state }) => state === "dead");
        const among = dead.length > 0 ? dead : model.events;
        return step(model, real, among[number % among.length]?.key ?? "nobody's");
      },
      (model) => model.events.length > 0,
    ),
  );
}

const retry = onEvent("retry", async (model, { store }, key) => {
  expect(await retryOutbox(store, key, model.now)).toBe(model.retry(key));
});

/** Of a call that waits for its next try, if there is one. */
const tryNow = fc.nat({ max: 11 }).map((number) =>
  command(
    `try ${number} now`,
    async (model, { store }) => {
      const waiting = model.sends.filter(({ state }) => state === "pending").flatMap(({ members }) => members);
      const key = waiting[number % waiting.length]?.key ?? "nobody's";
      expect(await retryOutbox(store, key, model.now)).toBe(model.retry(key));
    },
    (model) => model.sends.some(({ state }) => state === "pending"),
  ),
);

const discard = onEvent("discard", async (model, { store }, key) => {
  expect(await operate(store, model.now).changeContactEvent("discard", key)).toBe(Number(model.discard(key)));
});

const recover = fc.constant(
  command("recover", async (model, { store }) => {
    await store.recover(model.now);
    model.recover();
  }),
);

const prune = fc.constantFrom(0, 30_000).map((ms) =>
  command(`prune ${ms}`, async (model, { store }) => {
    const limits = { ...NOTHING_TO_PRUNE, now: model.now, sentBefore: model.now - ms, batch: 3 };
    while ((await store.prune(limits)) > 0);
    model.prune(limits.sentBefore);
  }),
);

const ON_ANY = [record, record, handle, lease, lease, lease, answer, answer, refuseWhole, fail, arrive, giveUp];
const SELDOM = [conflict, retry, retry, tryNow, discard, advance, advance, recover, prune];

/** Commands for an outbox whose data ends with it, and for one that outlives a crash. */
export const outboxCommandsFor = ({ outlives }: StoreKind): fc.Arbitrary<Command>[] => [
  ...ON_ANY,
  ...SELDOM,
  ...(outlives ? [crash] : []),
];

/** Lets the service take whatever comes; then each event that nobody ended is there once. */
export async function drain(model: OutboxModel, { store }: RealOutbox): Promise<void> {
  for (;;) {
    model.now += 10 * LEASE_MS;
    const { send } = await store.leaseSend({ now: model.now, leaseUntil: model.now + 1, limit: 100 });
    if (send === undefined) break;
    model.service.take(send);
    const results = send.events.map(({ seq }): EventResult => ({ seq, to: "done", remoteId: "cev", replayed: false }));
    await store.settleSend({ send: send.send, token: send.token, at: model.now, to: "settled", results });
  }
  expectOnce(model);
  const { items } = await operate(store).listContactEvents({ limit: 500 });
  for (const { state, body } of items) {
    expect(["done", "discarded", "dead"]).toContain(state);
    if (state === "done") expect(model.service.stored).toContain(body);
  }
}
