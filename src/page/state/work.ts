import { signal } from "@preact/signals";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { eventIdOf } from "../../protocol/inbox-id.js";
import type { EventView, HandlerView } from "../../store/inbox-view.js";
import type { InboxChange } from "../../operator/change-each.js";
import type { JobAction } from "../../store/bulk-jobs.js";
import { PageApiError } from "../../web/page-api-error.js";
import { findWork, listWork, postEventChange } from "../api/calls.js";
import { confirmed } from "./confirmed.js";
import { runAction, reportProblem, showNotice } from "./notice.js";
import { pausedHandlers } from "./handlers.js";
import { session } from "./session.js";
import { isStopped } from "../../operator/states.js";

/** What the app's handlers made of events, by the service's id; the dev server sends every change. */
export const works = signal<ReadonlyMap<string, EventView>>(new Map());

/** States of work that a later replay under another id must not hide, the worst first. */
const UNSETTLED = ["dead", "parked", "retrying", "pending", "running"];

type SentEvents = Pick<CaptureSummary, "lastEventId" | "earlierEventIds">;

/**
 * The work on the delivery, if it is known: on the event that its last attempt sent, or on one that an earlier attempt
 * sent where that is worse.
 */
export function workOf(sent: SentEvents): EventView | undefined {
  const last = lastWorkOf(sent);
  const earlier = sent.earlierEventIds.flatMap((id) => works.value.get(id) ?? []);
  const all = last === undefined ? earlier : [last, ...earlier];
  const worst = UNSETTLED.map((state) => all.find((work) => work.state === state));
  return worst.find((work) => work !== undefined) ?? last;
}

/** The work on the last replay where {@link workOf} is that on another event. */
export function replayWorkOf(sent: SentEvents): EventView | undefined {
  const last = lastWorkOf(sent);
  return last === workOf(sent) ? undefined : last;
}

function lastWorkOf({ lastEventId }: SentEvents): EventView | undefined {
  return lastEventId === null ? undefined : works.value.get(lastEventId);
}

/** Adds work that is new or has changed. */
export function takeWork(changed: readonly EventView[]): void {
  works.value = new Map([...works.value, ...changed.map((work) => [eventIdOf(work.id), work] as const)]);
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

/** Ids of events that were looked for in the inbox. */
export const soughtIds = signal<ReadonlySet<string>>(new Set());

/** Reads the work on one event, if the inbox has it; from then on its changes are sent. */
export async function readWork(id: string): Promise<void> {
  takeWork((await findWork(id)).events);
  soughtIds.value = new Set([...soughtIds.value, id]);
}

/**
 * Whether a retry may do something: an event that no handler got is read again, with the handlers of today. Test
 * deliveries are not: without the option testEvents no handler takes them.
 */
export function mayRetry({ handlers, test }: Pick<EventView, "handlers" | "test">): boolean {
  return handlers.length === 0 ? !test : handlers.some(isStopped);
}

/** Whether a piece of work waits for its next run, and could begin it at once. */
export function canRunNow(work: HandlerView, paused: readonly { handler: string }[]): boolean {
  const { handler, dueAt, attempts } = work;
  const isFree = !paused.some((pause) => pause.handler === handler);
  return dueAt !== null && attempts > 0 && isFree;
}

export function mayRunNow({ handlers }: Pick<EventView, "handlers">): boolean {
  return handlers.some((work) => canRunNow(work, pausedHandlers.value));
}

/** Goes up with each change of work that is made here: what is shown of events is read again then. */
export const workChanges = signal(0);

const DONE = { retry: "Retry requested", discard: "Discarded", run: "Due now" } as const satisfies Record<
  JobAction,
  string
>;

/** Has events retried, run now or, after a question, discarded. Resolves with whether that was done. */
export async function changeEvents(ids: readonly string[], action: JobAction): Promise<boolean> {
  const isOne = ids.length === 1;
  if (action === "discard" && !(await mayDiscard(isOne ? "this event" : `${ids.length} events`))) return false;
  return runAction(async () => {
    let [changed, failed] = [0, 0];
    let readAgain: InboxChange["readAgain"];
    for (const id of ids) {
      try {
        const answer = await postEventChange(id, action);
        changed += answer.changed;
        readAgain = answer.readAgain ?? readAgain;
      } catch (error) {
        // Gone, or without a body: that keeps no other one back.
        if (isOne || !(error instanceof PageApiError) || ![404, 409].includes(error.status)) throw error;
        failed += 1;
      }
    }
    const words =
      readAgain === "at_start"
        ? "Read again when the receiver starts"
        : isOne
          ? DONE[action]
          : `${DONE[action]}: ${changed} ${changed === 1 ? "piece" : "pieces"} of work`;
    showNotice(changed === 0 ? { tone: "plain", text: "Nothing to change here" } : { tone: "good", text: words });
    if (failed > 0) {
      showNotice({
        tone: "warn",
        text: `Not changed: ${failed} ${failed === 1 ? "event" : "events"}, gone or without a body`,
      });
    }
  }).finally(() => {
    workChanges.value += 1;
  });
}

function mayDiscard(what: string): Promise<boolean> {
  return confirmed({
    title: `Discard ${what}?`,
    text: "Unfinished work is ended permanently, without a run. Finished work stays as it is.",
    verb: "Discard",
  });
}
