import type { InboxEvent, InboxHandler } from "../../dev/api/page-api.js";
import { changeInboxEvent } from "../api/calls.js";
import { runAction, showNotice } from "./notice.js";
import { describeEnd, readWork, works } from "./work.js";
import { isRetryRequested, wordOfWork, type WorkWord } from "../../capture/model/work-word.js";

/** A running receiver takes up what was retried from outside within seconds. */
const RUN_MS = 15_000;

/** Of more retries the list alone tells what came of them. */
const MAX_FOLLOWED = 50;

/** Retries, and says what came of it once the event was read again and each handler has run. */
export function retryWork(eventId: string): Promise<boolean> {
  return runAction(async () => {
    const { changed } = await changeInboxEvent(eventId, "retry");
    if (changed === 0) {
      showNotice({ tone: "plain", text: "Nothing to retry here" });
      return;
    }
    await followRetry([eventId]);
  });
}

/** Says that a retry was requested. What the receiver makes of it is said later. */
export async function followRetry(eventIds: readonly string[]): Promise<void> {
  const what = eventIds.length === 1 ? "" : ` of ${eventIds.length} events`;
  showNotice({ tone: "plain", text: `Retry${what} requested, waiting for the receiver` });
  if (eventIds.length > MAX_FOLLOWED) return;
  for (const id of eventIds) await readWork(id);
  void reportEnd(eventIds);
}

async function reportEnd(eventIds: readonly string[]): Promise<void> {
  const events = await Promise.all(eventIds.map(untilRun));
  const ran = events.filter((event) => event !== undefined);
  const [only] = ran;
  if (ran.length < events.length) {
    const missing = events.length === 1 ? "it" : `${events.length - ran.length} of them`;
    showNotice({ tone: "warn", text: `Retry requested, but no receiver has run ${missing} yet. Does the app run?` });
  } else if (only !== undefined && ran.length === 1) {
    showNotice({ tone: toneOf(ran), text: `Retried: ${describeEnd(only)}` });
  } else {
    showNotice({ tone: toneOf(ran), text: `Retried: ${countWords(ran.map(wordOfWork))}` });
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

function isUnderWay(handler: InboxHandler): boolean {
  const { state, attempts } = handler;
  return isRetryRequested(handler) || state === "leased" || (state === "pending" && attempts === 0);
}
