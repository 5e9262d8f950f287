import { signal } from "@preact/signals";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { describeWork } from "../../operator/describe-work.js";
import type { EventWork, InboxEvent } from "../../operator/inbox-rows.js";
import { postEventChange, findWork, listWork } from "../api/calls.js";
import { confirmed } from "./confirmed.js";
import { runAction, reportProblem, showNotice } from "./notice.js";
import { session } from "./session.js";
import { isRetrying, isStopped, wordOfWork } from "../../operator/work-word.js";

/** What the app's handlers made of events, by event id; the dev server sends every change. */
export const works = signal<ReadonlyMap<string, EventWork>>(new Map());

/** States of work that a later replay under another id must not hide, the worst first. */
const UNSETTLED = ["dead", "parked", "pending", "leased"];

type SentEvents = Pick<CaptureSummary, "lastEventId" | "earlierEventIds">;

/**
 * The work on the delivery, if it is known: on the event that its last attempt sent, or on one that an earlier attempt
 * sent where that is worse.
 */
export function workOf(sent: SentEvents): EventWork | undefined {
  const last = lastWorkOf(sent);
  const earlier = sent.earlierEventIds.flatMap((id) => works.value.get(id) ?? []);
  const all = last === undefined ? earlier : [last, ...earlier];
  const worst = UNSETTLED.map((state) => all.find(({ event }) => event.state === state));
  return worst.find((work) => work !== undefined) ?? last;
}

/** The work on the last replay where {@link workOf} is that on another event. */
export function replayWorkOf(sent: SentEvents): EventWork | undefined {
  const last = lastWorkOf(sent);
  return last === workOf(sent) ? undefined : last;
}

function lastWorkOf({ lastEventId }: SentEvents): EventWork | undefined {
  return lastEventId === null ? undefined : works.value.get(lastEventId);
}

/** A retry that was seen here, from wherever it was requested. */
export interface SeenRetry {
  /** Milliseconds since 1970. */
  at: number;
  /** What came of it; undefined until the receiver has run it. */
  cameOf: string | undefined;
}

/** The last retry of each event, by its id. */
export const retries = signal<ReadonlyMap<string, SeenRetry>>(new Map());

function noteRetry({ event }: EventWork): void {
  const word = wordOfWork(event);
  const before = retries.value.get(event.id);
  const note = (retry: SeenRetry) => (retries.value = new Map([...retries.value, [event.id, retry]]));
  if (word === "retry requested") {
    if (before === undefined || before.cameOf !== undefined) note({ at: Date.now(), cameOf: undefined });
  } else if (before !== undefined && before.cameOf === undefined && word !== "running" && word !== "waiting") {
    note({ ...before, cameOf: describeEnd(event) });
  }
}

/** `done`, or how else it ended, or what is wrong with the first handler that is not done, or that there is none. */
export function describeEnd(event: InboxEvent): string {
  const { handlers } = event;
  if (handlers.length === 0) return "no handler takes it";
  const failed = handlers.find(({ state }) => state !== "done");
  return failed === undefined ? wordOfWork(event) : describeWork(failed);
}

/** Adds work that is new or has changed. */
export function takeWork(changed: readonly EventWork[]): void {
  changed.forEach(noteRetry);
  works.value = new Map([...works.value, ...changed.map((work) => [work.event.id, work] as const)]);
}

/** Loads what the stream sent before it was open; nothing without an inbox. */
export async function loadWork(): Promise<void> {
  if (session.value?.inbox !== true) return;
  try {
    takeWork((await listWork()).events);
  } catch (error) {
    reportProblem(error);
  }
}

/** Reads the work on one event; from then on its changes are sent. False if the inbox does not have the event. */
export async function readWork(id: string): Promise<boolean> {
  const { events } = await findWork(id);
  takeWork(events);
  return events.length > 0;
}

/**
 * Whether a retry may do something: an event that no handler got is read again, with the handlers of today. Test
 * deliveries are not: without the option testEvents no handler takes them.
 */
export function mayRetry({ handlers, test }: InboxEvent): boolean {
  return handlers.length === 0 ? !test : handlers.some(isStopped);
}

/** Whether work of the event can be run now: it has failed and waits for its next run. */
export function mayRunNow({ handlers }: InboxEvent): boolean {
  return handlers.some(isRetrying);
}

/** Ends the unfinished work of the event, after a question. */
export function discardWork(eventId: string): Promise<boolean> {
  return runAction(async () => {
    if (!(await mayDiscard("event"))) return;
    const { changed } = await postEventChange(eventId, "discard");
    await readWork(eventId);
    showNotice(
      changed === 0 ? { tone: "plain", text: "Nothing to discard here" } : { tone: "good", text: "Work discarded" },
    );
  });
}

export function mayDiscard(what: string): Promise<boolean> {
  return confirmed({
    title: `Discard this ${what}?`,
    text: "Its unfinished work is discarded permanently. What is done stays done.",
    verb: "Discard",
  });
}
