import { isoTime } from "../../base/iso-time.js";
import { escapeControls } from "../../base/text.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { MAX_HANDLER_NAME_LENGTH, type PausedHandler } from "../../store/paused-handlers.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { withInbox } from "../values/find-inbox.js";
import type * as specs from "./spec.js";

/** Who has paused a handler, where no login says so. */
const BY = "cli";

/** Pauses a handler in all processes. */
export const pause: RunCommand<typeof specs.inboxPause> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    if (handler === "" || handler.length > MAX_HANDLER_NAME_LENGTH) {
      throw usageError(`A handler's name has 1 to ${MAX_HANDLER_NAME_LENGTH} characters. Check the name.`);
    }
    const changed = await inbox.pauseHandler(handler, BY);
    const name = escapeControls(handler);
    const paused = (await inbox.listPaused()).find((each) => each.handler === handler);
    const since = isoTime(paused?.since);
    const text = changed ? "paused: its work waits until inbox resume" : describeEarlier(paused);
    const hasWork = await isKnown(inbox, handler);
    context.out.result({ handler, changed, since, by: paused?.by, hasWork }, `${name}  ${text}`);
    if (!hasWork) context.out.note(`No event has work of the handler ${name}; check its name.`);
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
async function isKnown(inbox: InboxOperator, handler: string): Promise<boolean> {
  return (await inbox.listEvents({ handler, limit: 1 })).items.length > 0;
}
