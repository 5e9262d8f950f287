import { signal } from "@preact/signals";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { describeWork } from "../../capture/model/describe-work.js";
import type { EventWork, InboxEvent, InboxEventDetail, InboxHandler } from "../../dev/api/page-api.js";
import { changeInboxEvent, findWork, listWork, readInboxEvent } from "../api/calls.js";
import { confirmed } from "./confirmed.js";
import { runAction, reportProblem, showNotice } from "./notice.js";
import { session } from "./session.js";

/** What the app's handlers made of events, by event id; the dev server sends every change. */
export const works = signal<ReadonlyMap<string, EventWork>>(new Map());

/** The work on the event that the capture's last attempt sent, if it is known. */
export function workOf({ lastEventId }: Pick<CaptureSummary, "lastEventId">): EventWork | undefined {
  return lastEventId === null ? undefined : works.value.get(lastEventId);
}

/** Adds work that is new or has changed. */
export function takeWork(changed: readonly EventWork[]): void {
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

/** The same with the body. */
export async function readEvent(id: string): Promise<InboxEventDetail> {
  const { errors, ...event } = await readInboxEvent(id);
  takeWork([{ event, errors }]);
  return { ...event, errors };
}

/** Whether a retry, or a discard, would do something. */
export function isStopped({ state }: InboxHandler): boolean {
  return state === "dead" || state === "parked";
}

/** A running receiver takes up what was retried from outside within seconds. */
const RUN_MS = 15_000;

/** Retries, and says what came of it once the event was read again and each handler has run. */
export function retryWork(eventId: string): Promise<boolean> {
  return runAction(async () => {
    const { changed, readAgain } = await changeInboxEvent(eventId, "retry");
    if (changed === 0) {
      showNotice({ tone: "plain", text: "Nothing to retry here" });
      return;
    }
    const what = readAgain === undefined ? "its handlers run again" : "the app reads the event again";
    showNotice({ tone: "plain", text: `Retried: ${what}` });
    await readWork(eventId);
    reportRun(await untilRun(eventId));
  });
}

function reportRun(event: InboxEvent | undefined): void {
  if (event === undefined) {
    showNotice({ tone: "warn", text: "Retried, but no receiver has run it yet. Does the app run?" });
    return;
  }
  const [failed] = event.handlers.filter(({ state }) => state !== "done");
  if (failed === undefined) showNotice({ tone: "good", text: "Retried: done" });
  else showNotice({ tone: "bad", text: `Retried: ${describeWork(failed)}` });
}

/** The event once nothing of it is under way; undefined if that takes too long. */
function untilRun(eventId: string): Promise<InboxEvent | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(undefined), RUN_MS);
    const stop = works.subscribe((known) => {
      const event = known.get(eventId)?.event;
      // The subscription begins with the present value, before there is something to stop.
      if (event !== undefined && !event.handlers.some(isUnderWay)) setTimeout(() => end(event));
    });
    const end = (event: InboxEvent | undefined) => {
      clearTimeout(timer);
      stop();
      resolve(event);
    };
  });
}

function isUnderWay({ state, attempts, retryRequestedAt }: InboxHandler): boolean {
  return retryRequestedAt !== null || state === "leased" || (state === "pending" && attempts === 0);
}

/** Ends the unfinished work of the event, after a question. */
export function discardWork(eventId: string): Promise<boolean> {
  return runAction(async () => {
    if (!(await mayDiscard("event"))) return;
    const { changed } = await changeInboxEvent(eventId, "discard");
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
