import type { InboxEvent, InboxHandler } from "../../operator/inbox-rows.js";
import type { JobAction } from "../../web/api/jobs.js";
import { postEventChange } from "../api/calls.js";
import { runAction, showNotice } from "./notice.js";
import { describeEnd, readWork, works } from "./work.js";
import { isRetryRequested, wordOfWork, type WorkWord } from "../../operator/work-word.js";

/** A running receiver takes up what was changed from outside within seconds. */
const RUN_MS = 15_000;

/** Of more events the list alone tells what came of them. */
const MAX_FOLLOWED = 50;

/** A change after which handlers run: with new attempts, or before the next run was due. */
export type AgainChange = Exclude<JobAction, "discard">;

const TEXTS: Record<AgainChange, { asked: string; ended: string; nothing: string }> = {
  retry: { asked: "Retry", ended: "Retried", nothing: "Nothing to retry here" },
  run: { asked: "Run", ended: "Ran", nothing: "Nothing waits for its next run here" },
};

/** Runs of the handlers of each event that a change finds waiting for their next one. */
type WaitingRuns = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Changes an event so that handlers run, and says what came of it once each of them has. */
export function runAgain(eventId: string, change: AgainChange): Promise<boolean> {
  return runAction(async () => {
    const waiting = await readWaiting([eventId], change);
    const { changed } = await postEventChange(eventId, change);
    if (changed === 0) {
      showNotice({ tone: "plain", text: TEXTS[change].nothing });
      return;
    }
    await followChange([eventId], change, waiting);
  });
}

/** What waits before events are run now, so that its next run can be told from the last one. */
export async function readWaiting(eventIds: readonly string[], change: JobAction): Promise<WaitingRuns> {
  if (change !== "run" || eventIds.length > MAX_FOLLOWED) return new Map();
  for (const id of eventIds) await readWork(id);
  return new Map(eventIds.map((id) => [id, waitingRunsOf(works.value.get(id)?.event)]));
}

function waitingRunsOf(event: InboxEvent | undefined): ReadonlyMap<string, number> {
  const waiting = event?.handlers.filter(({ state }) => state === "pending") ?? [];
  return new Map(waiting.map(({ handler, attempts }) => [handler, attempts]));
}

/** Says that handlers were asked to run. What the receiver makes of it is said later. */
export async function followChange(
  eventIds: readonly string[],
  change: AgainChange,
  waiting: WaitingRuns,
): Promise<void> {
  const what = eventIds.length === 1 ? "" : ` of ${eventIds.length} events`;
  showNotice({ tone: "plain", text: `${TEXTS[change].asked}${what} requested, waiting for the receiver` });
  if (eventIds.length > MAX_FOLLOWED) return;
  for (const id of eventIds) await readWork(id);
  void reportEnd(eventIds, change, waiting);
}

async function reportEnd(eventIds: readonly string[], change: AgainChange, waiting: WaitingRuns): Promise<void> {
  const { asked, ended } = TEXTS[change];
  const events = await Promise.all(eventIds.map((id) => untilRun(id, waiting.get(id) ?? new Map())));
  const ran = events.filter((event) => event !== undefined);
  const [only] = ran;
  if (ran.length < events.length) {
    const missing = events.length === 1 ? "it" : `${events.length - ran.length} of them`;
    showNotice({ tone: "warn", text: `${asked} requested, but no receiver has run ${missing} yet. Does the app run?` });
  } else if (only !== undefined && ran.length === 1) {
    showNotice({ tone: toneOf(ran), text: `${ended}: ${describeEnd(only)}` });
  } else {
    showNotice({ tone: toneOf(ran), text: `${ended}: ${countWords(ran.map(wordOfWork))}` });
  }
}

function toneOf(events: readonly InboxEvent[]): "good" | "warn" | "bad" {
  if (events.some(({ state }) => state !== "done")) return "bad";
  return events.some(({ handlers }) => handlers.length === 0) ? "warn" : "good";
}

/** Such as `3 done, 1 dead`. */
function countWords(words: readonly WorkWord[]): string {
  return [...new Set(words)].map((word) => `${words.filter((each) => each === word).length} ${word}`).join(", ");
}

/** The event once nothing of it is under way; undefined if that takes too long. */
function untilRun(eventId: string, waiting: ReadonlyMap<string, number>): Promise<InboxEvent | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(undefined), RUN_MS);
    const stop = works.subscribe((known) => {
      const event = known.get(eventId)?.event;
      const isOver = event?.handlers.every((handler) => !isUnderWay(handler, waiting.get(handler.handler) ?? 0));
      // The subscription begins with the present value, before there is something to stop.
      if (isOver === true) setTimeout(() => end(event));
    });
    const end = (event: InboxEvent | undefined) => {
      clearTimeout(timer);
      stop();
      resolve(event);
    };
  });
}

function isUnderWay(handler: InboxHandler, runsBefore: number): boolean {
  const { state, attempts } = handler;
  return isRetryRequested(handler) || state === "leased" || (state === "pending" && attempts <= runsBefore);
}
