import { describeWork } from "../../capture/model/describe-work.js";
import type { InboxHandler } from "../../dev/api/page-api.js";
import { changeInboxEvent, readInboxEvent } from "../api/calls.js";
import { runAction, showNotice } from "./notice.js";

/** A running receiver takes up what was retried from outside within seconds. */
const RUN_MS = 15_000;
const POLL_INTERVAL_MS = 500;

/** The work on an event that goes on only when it is retried; none if the inbox does not have the event. */
export async function findStoppedWork(eventId: string): Promise<InboxHandler[]> {
  try {
    return (await readInboxEvent(eventId)).handlers.filter(({ state }) => state === "dead" || state === "parked");
  } catch {
    return [];
  }
}

/** Retries, and says what came of it once the event was read again and each handler has run. */
export function retryWork(eventId: string): Promise<boolean> {
  return runAction(async () => {
    const { readAgain } = await changeInboxEvent(eventId, "retry");
    const what = readAgain === undefined ? "its handlers run again" : "the app reads the event again";
    showNotice({ tone: "plain", text: `Retried: ${what}` });
    for (const deadline = Date.now() + RUN_MS; Date.now() < deadline;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      const { handlers } = await readInboxEvent(eventId);
      if (handlers.some(isUnderWay)) continue;
      const [failed] = handlers.filter(({ state }) => state !== "done");
      if (failed === undefined) showNotice({ tone: "good", text: "Retried: done" });
      else showNotice({ tone: "bad", text: `Retried: ${describeWork(failed)}` });
      return;
    }
    showNotice({ tone: "warn", text: "Retried, but no receiver has run it yet. Does the app run?" });
  });
}

function isUnderWay({ state, attempts, retryRequestedAt }: InboxHandler): boolean {
  return retryRequestedAt !== null || state === "leased" || (state === "pending" && attempts === 0);
}
