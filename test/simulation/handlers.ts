import { sleep } from "#pigeonhole/base/wait.js";
import { MINUTE } from "#pigeonhole/base/duration.js";
import type { AnyEvent, BatchContext, HandlerContext, Receiver, RetryAfter } from "pigeonhole";
import type { Life } from "./life.js";
import { SLEEP_MS } from "./machine-clock.js";
import { type Course, TOO_SLOW_MS, courseOf } from "./plan.js";

/** The tables in which events' effects are counted. They let an effect happen twice, so that one that did is seen. */
export const EFFECT_TABLES = `
  CREATE TABLE effect (event_id TEXT NOT NULL, attempt INTEGER NOT NULL) STRICT;
  CREATE TABLE mirrored (event_id TEXT NOT NULL) STRICT;
  CREATE TABLE batched (event_id TEXT NOT NULL) STRICT;
  CREATE TABLE recalled (event_id TEXT NOT NULL) STRICT`;

/** Writes effects with `ctx.commit`. */
export const LEDGER = "ledger";
/** Only records contact events, for the events of e-mails, and ends without `ctx.commit`. */
export const COURIER = "courier";
const COURIER_TYPES = "email.*";
/** Writes what only the newest of the same events may: none that is older comes after it. */
const MIRROR = "mirror";
/** In one of so many worlds: the others are as they would be without it. */
const MIRRORED = 7;
export const hasMirror = (seed: number): boolean => seed % MIRRORED === 1;
/** Takes batches, of which now and then one event fails alone, or all do. */
const BATCHER = "batcher";
/** In one of so many worlds too. */
const BATCHED = 7;
export const hasBatches = (seed: number): boolean => seed % BATCHED === 3;
/** Gets stored events of before too, in one of so many worlds, whose files no other worlds begin with. */
export const HISTORIAN = "historian";
export const HISTORIAN_TYPE = "form.submitted";
const RECALLED = 7;
export const OLD_EVENTS: readonly string[] = Array.from({ length: 6 }, (_, number) => `old_${number}`);
export const hasHistorian = (seed: number): boolean => seed % RECALLED === 6;
/** Has a rate, in one of so many worlds too. */
const METERED = 7;
const hasMeter = (seed: number): boolean => seed % METERED === 5;
const METER_RATE = { runs: 2, per: "1s" } as const;

const TIMEOUT_MS = 10 * MINUTE;
/** Half of the receiver's places, which a handler has at the least while another waits. */
const LEDGER_PLACES = 8;

interface Application {
  life: Life;
  seed: number;
  RetryAfter: typeof RetryAfter;
}

/** Registers the handlers of the simulated application. */
export function registerHandlers(receiver: Receiver, { seed, ...of }: Application): void {
  receiver.on("*", (event, ctx) => keepLedger(event, ctx, { ...of, course: courseOf(seed, event.id, LEDGER) }), {
    name: LEDGER,
    timeoutMs: TIMEOUT_MS,
  });
  receiver.on(
    COURIER_TYPES,
    (event, ctx) => sendCourier(event, ctx, { ...of, course: courseOf(seed, event.id, COURIER) }),
    { name: COURIER, timeoutMs: TIMEOUT_MS, key: (event) => event.type },
  );
  if (hasBatches(seed)) {
    const batch: Batch = { life: of.life, courseOf: (id) => batchCourse(seed, id) };
    receiver.onBatch("*", (events, ctx) => writeBatch(events, ctx, batch), { name: BATCHER, timeoutMs: TIMEOUT_MS });
  }
  if (hasHistorian(seed)) {
    receiver.on(
      HISTORIAN_TYPE,
      (event, ctx) => recall(event, ctx, { ...of, course: courseOf(seed, event.id, HISTORIAN) }),
      { name: HISTORIAN, timeoutMs: TIMEOUT_MS, concurrency: 1 },
    );
  }
  if (hasMeter(seed)) receiver.on("*", () => meter(of.life), { name: "meter", rate: METER_RATE });
  if (!hasMirror(seed)) return;
  receiver.on(COURIER_TYPES, (event, ctx) => mirror(event, ctx, { ...of, course: mirrorCourse(seed, event.id) }), {
    name: MIRROR,
    timeoutMs: TIMEOUT_MS,
    key: () => "all",
    only: "newest",
  });
}

/** True when the courier sees events of this type. */
export function isForCourier(type: string): boolean {
  return type.startsWith("email.");
}

/**
 * The longest time in which the handlers, one run behind the other, are through with these events; back-offs come on
 * top.
 */
export function longestQueueMs(seed: number, events: readonly { id: string; type: string }[]): number {
  let ledgerMs = 0;
  let heldMs = 0;
  let [mirrorMs, batchMs, historianMs] = [0, 0, 0];
  const recalled = events.filter(({ type }) => type === HISTORIAN_TYPE).map(({ id }) => id);
  for (const id of hasHistorian(seed) ? [...OLD_EVENTS, ...recalled] : []) {
    const course = courseOf(seed, id, HISTORIAN);
    historianMs += longestRunsMs(course) + course.failures * course.holdMs;
  }
  const courierMs = new Map<string, number>();
  for (const { id, type } of events) {
    ledgerMs += longestRunsMs(courseOf(seed, id, LEDGER));
    for (const handler of [LEDGER, COURIER]) {
      const { failures, holdMs } = courseOf(seed, id, handler);
      heldMs += failures * holdMs;
    }
    if (hasBatches(seed)) batchMs += longestRunsMs(batchCourse(seed, id));
    if (!isForCourier(type)) continue;
    if (hasMirror(seed)) mirrorMs += longestRunsMs(mirrorCourse(seed, id));
    courierMs.set(type, (courierMs.get(type) ?? 0) + longestRunsMs(courseOf(seed, id, COURIER)));
  }
  return heldMs + Math.max(ledgerMs / LEDGER_PLACES, mirrorMs, batchMs, historianMs, ...courierMs.values());
}

/** All runs of an event, each as late as the timer that ends it can be. */
function longestRunsMs(course: Course): number {
  const runMs = (takesMs: number): number => (takesMs === 0 ? 0 : takesMs + SLEEP_MS);
  const failureMs = course.how === "too_slow" ? runMs(TIMEOUT_MS) : runMs(course.takesMs);
  return course.failures * failureMs + runMs(course.takesMs);
}

interface Run extends Omit<Application, "seed"> {
  course: Course;
}

function keepLedger(event: AnyEvent, ctx: HandlerContext, run: Run): Promise<void> {
  return runAlone([`${LEDGER} ${event.id}`], ctx, run.life, () => writeLedger(event, ctx, run));
}

async function writeLedger(event: AnyEvent, ctx: HandlerContext, run: Run): Promise<void> {
  const { life, course } = run;
  const fails = await begin(ctx, run);
  record(event, ctx, { handler: LEDGER, labels: course.labels });
  if (fails && course.how === "at_once") throw new Error("planned failure");
  const committed = ctx.commit(({ db }) => {
    life.passOrThrow("write");
    db.prepare("INSERT INTO effect (event_id, attempt) VALUES (?, ?)").run(event.id, ctx.attempt);
    life.passOrThrow("written");
    if (fails && course.how === "inside_commit") throw new Error("planned failure");
  });
  if (fails && course.how === "beside_commit") throw new Error("planned failure");
  await committed;
}

/** Two events of one key never run at once, nor does one event twice. */
function sendCourier(event: AnyEvent, ctx: HandlerContext, run: Run): Promise<void> {
  return runAlone([`${COURIER} ${event.id}`, `${COURIER} key ${event.type}`], ctx, run.life, async () => {
    const fails = await begin(ctx, run);
    // What a step gives must be the same in every run, or the second run would record another event under the same key.
    const stepped = await ctx.step("draw", () => `${ctx.attempt}`);
    record(event, ctx, { handler: COURIER, labels: ["note"], stepped });
    if (fails) throw new Error("planned failure");
  });
}

/** A wait that holds the handler may end with its work, when that is superseded: there is none. */
const mirrorCourse = (seed: number, eventId: string): Course => ({ ...courseOf(seed, eventId, MIRROR), holdMs: 0 });

function mirror(event: AnyEvent, ctx: HandlerContext, run: Run): Promise<void> {
  return runAlone([MIRROR], ctx, run.life, async () => {
    if (await begin(ctx, run)) throw new Error("planned failure");
    await ctx.commit(({ db }) => void db.prepare("INSERT INTO mirrored (event_id) VALUES (?)").run(event.id));
  });
}

/** No wait holds the handler. */
const batchCourse = (seed: number, eventId: string): Course => ({ ...courseOf(seed, eventId, BATCHER), holdMs: 0 });

interface Batch {
  life: Life;
  courseOf: (eventId: string) => Course;
}

function writeBatch(events: readonly AnyEvent[], ctx: BatchContext, { life, courseOf: courses }: Batch): Promise<void> {
  const names = events.map(({ id }) => `${BATCHER} ${id}`);
  return runAlone(names, ctx, life, async () => {
    life.clock.wake();
    life.passOrThrow("handler");
    const takesMs = Math.max(...events.map(({ id }) => courses(id).takesMs));
    if (takesMs > MINUTE && life.shared.wrong.size === 0) life.clock.wake(takesMs);
    if (takesMs > 0) await sleep(life.clock, takesMs);
    const failing = events.filter((event) => ctx.of(event).attempt <= courses(event.id).failures);
    for (const event of failing) ctx.fail(event, new Error("planned failure"));
    const good = events.filter((event) => !failing.includes(event));
    // Once for each event at the most, so that none of the others spends its attempts.
    const [first] = good;
    const failsAll = first !== undefined && ctx.of(first).attempt === 1 && courses(first.id).how === "inside_commit";
    await ctx.commit(({ db }) => {
      life.passOrThrow("write");
      for (const { id } of good) db.prepare("INSERT INTO batched (event_id) VALUES (?)").run(id);
      life.passOrThrow("written");
      if (failsAll) throw new Error("planned failure");
    });
  });
}

function recall(event: AnyEvent, ctx: HandlerContext, run: Run): Promise<void> {
  return runAlone([`${HISTORIAN} ${event.id}`], ctx, run.life, async () => {
    if (await begin(ctx, run)) throw new Error("planned failure");
    await ctx.commit(({ db }) => void db.prepare("INSERT INTO recalled (event_id) VALUES (?)").run(event.id));
  });
}

function meter(life: Life): void {
  life.clock.wake();
  life.shared.meters(life, METER_RATE.runs);
  life.passOrThrow("handler");
}

/** A run that is aborted, by its time-out or by a stop, may go on behind its end. */
async function runAlone(
  names: readonly string[],
  ctx: Pick<HandlerContext, "signal">,
  life: Life,
  run: () => Promise<void>,
): Promise<void> {
  const ends = names.map((name) => life.shared.begin(name, life));
  const endAll = (): void => {
    for (const end of ends) end();
  };
  ctx.signal.addEventListener("abort", endAll);
  await run().finally(endAll);
}

/** True when this run is to fail. */
async function begin(ctx: HandlerContext, { life, course, RetryAfter }: Run): Promise<boolean> {
  life.clock.wake();
  life.passOrThrow("handler");
  const fails = ctx.attempt <= course.failures;
  if (fails && course.holdMs > 0) throw new RetryAfter("planned wait", course.holdMs, { holds: "handler" });
  const takesMs = fails && course.how === "too_slow" ? TOO_SLOW_MS : course.takesMs;
  // Longer than a lease, it is renewed meanwhile.
  if (takesMs > MINUTE && takesMs < TIMEOUT_MS && life.shared.wrong.size === 0) life.clock.wake(takesMs);
  if (takesMs > 0) await sleep(life.clock, takesMs);
  return fails;
}

function record(
  event: AnyEvent,
  ctx: HandlerContext,
  what: { handler: string; labels: readonly string[]; stepped?: string },
): void {
  const { handler, labels, ...properties } = what;
  for (const label of labels) {
    const email = "someone@example.com";
    const name = `${handler}.${label}`;
    ctx.contactEvents.record(
      { name, email, createContact: true, properties: { eventId: event.id, ...properties } },
      { key: label },
    );
  }
}
