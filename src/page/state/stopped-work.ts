import { NOTE_HANDLER } from "../../base/note-handler.js";
import { describeWork } from "../../capture/model/describe-work.js";
import type { InboxHandler } from "../../dev/api/page-api.js";
import { changeInboxEvent, readInboxEvent } from "../api/calls.js";
import { attempt, showNotice } from "./notice.js";

/** Work on an event that goes on only when it is retried. */
export interface StoppedWork {
  handlers: InboxHandler[];
  /** False for an event that was not understood: only the app can read it again. */
  canRetry: boolean;
}

/** A running receiver takes up what was retried from outside within seconds. */
const RUN_MS = 15_000;
const LOOK_EVERY_MS = 500;

/** Null if nothing has stopped, or the inbox does not have the event. */
export async function findStoppedWork(eventId: string): Promise<StoppedWork | null> {
  try {
    return stoppedOf((await readInboxEvent(eventId)).handlers);
  } catch {
    return null;
  }
}

/** Retries, and says what came of it once each handler has run. */
export function retryWork(eventId: string): Promise<boolean> {
  return attempt(async () => {
    await changeInboxEvent(eventId, "retry");
    showNotice({ tone: "plain", text: "Retried: its handlers run again" });
    for (const deadline = Date.now() + RUN_MS; Date.now() < deadline;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
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

function isUnderWay({ state, attempts }: InboxHandler): boolean {
  return state === "leased" || (state === "pending" && attempts === 0);
}

function stoppedOf(handlers: InboxHandler[]): StoppedWork | null {
  const stopped = handlers.filter(({ state }) => state === "dead" || state === "parked");
  if (stopped.length === 0) return null;
  return { handlers: stopped, canRetry: stopped.every(({ handler }) => handler !== NOTE_HANDLER) };
}
