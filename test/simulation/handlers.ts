import { sleep } from "#pigeonhole/base/wait.js";
import { MINUTE } from "#pigeonhole/base/duration.js";
import type { AnyEvent, BatchContext, CommitTransaction, HandlerContext, Receiver, RetryAfter } from "pigeonhole";
import type { Life } from "./life.js";
import { SLEEP_MS } from "./machine-clock.js";
import { type Course, TOO_SLOW_MS, courseOf } from "./plan.js";

/** The table in which effects are counted. It lets an effect happen twice, so that one that did is seen. */
export const EFFECT_TABLE = "CREATE TABLE effect (handler TEXT NOT NULL, event_id TEXT NOT NULL) STRICT";

function writeEffects({ db }: CommitTransaction, handler: string, eventIds: readonly string[]): void {
  const insert = db.prepare("INSERT INTO effect (handler, event_id) VALUES (?, ?)");
  for (const id of eventIds) insert.run(handler, id);
}

/** Writes effects with `ctx.commit`. */
export const LEDGER = "ledger";
/** Only records contact events, for the events of e-mails, and ends without `ctx.commit`. */
export const COURIER = "courier";
const COURIER_TYPES = "email.*";
/** Writes what only the newest of the same events may: none that is older comes after it. */
export const MIRROR = "mirror";
/** Takes batches, of which now and then one event fails alone, or all do. */
export const BATCHER = "batcher";
/** Gets stored events of before too, whose files no other worlds begin with. */
export const HISTORIAN = "historian";
export const HISTORIAN_TYPE = "form.submitted";
export const OLD_EVENTS: readonly string[] = Array.from({ length: 6 }, (_, number) => `old_${number}`);
/** Has a rate. */
const METER = "meter";
const METER_RATE = { runs: 2, per: "1s" } as const;

/** Each of these is in one of so many worlds, a different one: the others are as they would be without it. */
const WORLDS = 7;
const WORLD_OF = { [MIRROR]: 1, [BATCHER]: 3, [METER]: 5, [HISTORIAN]: 6 };
export const hasHandler = (seed: number, handler: keyof typeof WORLD_OF): boolean =>
  seed % WORLDS === WORLD_OF[handler];

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
  if (hasHandler(seed, BATCHER)) {
    const batch: Batch = { life: of.life, courseOf: (id) => batchCourse(seed, id) };
    receiver.onBatch("*", (events, ctx) => writeBatch(events, ctx, batch), { name: BATCHER, timeoutMs: TIMEOUT_MS });
  }
  if (hasHandler(seed, HISTORIAN)) {
    receiver.on(
      HISTORIAN_TYPE,
      (event, ctx) => recall(event, ctx, { ...of, course: courseOf(seed, event.id, HISTORIAN) }),
      { name: HISTORIAN, timeoutMs: TIMEOUT_MS, concurrency: 1 },
    );
  }
  if (hasHandler(seed, METER)) receiver.on("*", () => meter(of.life), { name: METER, rate: METER_RATE });
  if (!hasHandler(seed, MIRROR)) return;
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
  for (const id of hasHandler(seed, HISTORIAN) ? [...OLD_EVENTS, ...recalled] : []) {
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
    if (hasHandler(seed, BATCHER)) batchMs += longestRunsMs(batchCourse(seed, id));
    if (!isForCourier(type)) continue;
    if (hasHandler(seed, MIRROR)) mirrorMs += longestRunsMs(mirrorCourse(seed, id));
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
  const committed = ctx.commit((tx) => {
    life.passOrThrow("write");
    writeEffects(tx, LEDGER, [event.id]);
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
    await ctx.commit((tx) => writeEffects(tx, MIRROR, [event.id]));
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
    await ctx.commit((tx) => {
      life.passOrThrow("write");
      writeEffects(
        tx,
        BATCHER,
        good.map(({ id }) => id),
      );
      life.passOrThrow("written");
      if (failsAll) throw new Error("planned failure");
    });
  });
}

function recall(event: AnyEvent, ctx: HandlerContext, run: Run): Promise<void> {
  return runAlone([`${HISTORIAN} ${event.id}`], ctx, run.life, async () => {
    if (await begin(ctx, run)) throw new Error("planned failure");
    await ctx.commit((tx) => writeEffects(tx, HISTORIAN, [event.id]));
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
