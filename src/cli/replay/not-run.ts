import { answerHead, whyNotRun } from "../../capture/model/answer.js";
import { describeWork } from "../../capture/model/describe-work.js";
import type { ReplayedAttempt } from "../../capture/replay/replay-captures.js";
import { quoteForShell } from "../../base/text.js";
import type { EventView } from "../../store/inbox-view.js";
import { openInbox } from "../../store/open-inbox.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";

/** Why no handler ran for a replay that was answered 2xx, and what to do; empty if one runs or that is not known. */
export async function describeNotRun({ capture, attempt }: ReplayedAttempt, file?: string): Promise<string[]> {
  const head = answerHead(attempt);
  const why = whyNotRun(head, "replay");
  if (why === undefined) return [];
  const id = attempt.eventId ?? capture.event.id;
  const event = id === null || file === undefined ? undefined : await readEvent(file, id);
  const work = event === undefined || file === undefined ? [] : describeStopped(event, file);
  const again = head.outcome === "duplicate" ? " --new-id runs it again under a new id." : "";
  return [`${why}.${again}`, ...work];
}

/** A database that cannot be read, or belongs to another app, is no reason to end a replay. */
async function readEvent(file: string, id: string): Promise<EventView | undefined> {
  const inbox = await openInbox(file).catch(() => undefined);
  try {
    return await inbox?.getEvent(id);
  } catch {
    return undefined;
  } finally {
    await inbox?.close();
  }
}

/** The work that has stopped, and how it goes on. */
function describeStopped({ id, handlers }: EventView, file: string): string[] {
  const stopped = handlers.filter(({ state }) => state === "dead" || state === "parked");
  if (stopped.length === 0) return [];
  const isUnread = stopped.some(({ handler }) => handler === NOTE_HANDLER);
  const when = isUnread ? "After a fix, to have the app read it again" : "To retry it";
  const advice = `${when}: pigeonhole inbox retry ${quoteForShell(id)} --db ${quoteForShell(file)}`;
  return [...stopped.map(describeWork), advice];
}
