import { isoTime } from "../../base/iso-time.js";
import { escapeControls } from "../../base/text.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import type { PausedHandler } from "../../store/paused-handlers.js";
import type { RunCommand } from "../frame/context.js";
import { withInbox } from "../values/find-inbox.js";
import type * as specs from "./spec.js";

/** Who has paused a handler, where no login says so. */
const BY = "cli";

/** Pauses a handler in all processes. */
export const pause: RunCommand<typeof specs.inboxPause> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const changed = await inbox.pauseHandler(handler, BY);
    const name = escapeControls(handler);
    const paused = (await inbox.listPaused()).find((each) => each.handler === handler);
    const since = isoTime(paused?.since);
    const text = changed ? "paused: its work waits until inbox resume" : describeEarlier(paused);
    context.out.result({ handler, changed, since, by: paused?.by }, `${name}  ${text}`);
    await warnOfUnknown(inbox, handler, (note) => context.out.note(note));
  });

/** What was there already; undefined if it was resumed meanwhile. */
function describeEarlier(paused: PausedHandler | undefined): string {
  if (paused === undefined) return "was paused, and has just been resumed";
  return `was paused by ${escapeControls(paused.by)} at ${isoTime(paused.since)}`;
}

/** Resumes a handler in all processes. */
export const resume: RunCommand<typeof specs.inboxResume> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const changed = await inbox.resumeHandler(handler);
    const text = changed ? "resumed: its work runs within seconds" : "was not paused";
    context.out.result({ handler, changed }, `${escapeControls(handler)}  ${text}`);
  });

/** A misspelt name pauses nothing; a handler may also be new. */
async function warnOfUnknown(inbox: InboxOperator, handler: string, note: (text: string) => void): Promise<void> {
  const { items } = await inbox.listEvents({ handler, limit: 1 });
  if (items.length === 0) note(`No event has work of the handler ${escapeControls(handler)}; check its name.`);
}
