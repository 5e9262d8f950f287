import { answerHead, whyNotRun } from "../../capture/model/answer.js";
import { describeWork } from "../../capture/model/describe-work.js";
import type { ReplayedAttempt } from "../../capture/replay/replay-captures.js";
import { quoteForShell } from "../../base/text.js";
import type { EventView } from "../../store/inbox-view.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { openFirst } from "../values/inbox-place.js";

/** Why no handler ran for a replay that was answered 2xx, and what to do; empty if one runs or that is not known. */
export async function describeNotRun(
  { capture, attempt }: ReplayedAttempt,
  inboxes: readonly string[],
): Promise<string[]> {
  const head = answerHead(attempt);
  const why = whyNotRun(head, "replay");
  if (why === undefined) return [];
  const id = attempt.eventId ?? capture.event.id;
  const work = id === null || inboxes.length === 0 ? [] : await describeWorkOn(id, inboxes);
  const again = head.outcome === "duplicate" ? " --new-id runs it again under a new id." : "";
  return [`${why}.${again}`, ...work];
}

/** A database that cannot be read, or belongs to another app, is no reason to end a replay. */
async function describeWorkOn(id: string, inboxes: readonly string[]): Promise<string[]> {
  const inbox = await openFirst(inboxes).catch(() => undefined);
  try {
    const event = await inbox?.getEvent(id);
    return event === undefined || inbox === undefined ? [] : describeStopped(event, inbox.database);
  } catch {
    return [];
  } finally {
    await inbox?.close();
  }
}

/** The work that has stopped, and how it goes on. */
function describeStopped({ id, handlers }: EventView, database: string): string[] {
  const stopped = handlers.filter(({ state }) => state === "dead" || state === "parked");
  if (stopped.length === 0) return [];
  const isUnread = stopped.some(({ handler }) => handler === NOTE_HANDLER);
  const when = isUnread ? "After a fix, to have the app read it again" : "To retry it";
  const advice = `${when}: pigeonhole inbox retry ${quoteForShell(id)} --db ${quoteForShell(database)}`;
  return [...stopped.map(describeWork), advice];
}
