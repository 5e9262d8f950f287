import { escapeControls } from "../../base/text.js";
import { lookForHandler } from "../../store/find-in-inbox.js";
import { MAX_HANDLER_NAME_LENGTH, type StoredHandler } from "../../store/paused-handlers.js";
import { nearestFirst, nearestWord } from "../../base/nearest-word.js";
import type { PlannedHistory } from "../../store/history.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { withInbox } from "../values/find-inbox.js";
import { countOf } from "../frame/format.js";
import type * as specs from "./spec.js";

/** Who has paused a handler, where no login says so. */
const BY = "cli";

/** Pauses a handler in all processes. */
export const pauseNamedHandler: RunCommand<typeof specs.inboxPause> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    if (handler === "" || handler.length > MAX_HANDLER_NAME_LENGTH) {
      throw usageError(`A handler's name has 1 to ${MAX_HANDLER_NAME_LENGTH} characters. Check the name.`);
    }
    const changed = await inbox.pauseHandler(handler, BY);
    const name = escapeControls(handler);
    const paused = (await inbox.listHandlers()).find((each) => each.handler === handler)?.paused ?? undefined;
    const since = paused?.since ?? null;
    const text = changed ? "paused: its work waits until inbox resume" : describeEarlier(paused);
    const { hasWork, isKnown, all } = await lookForHandler(inbox, handler);
    const others = nearestFirst(handler, all);
    const known = isKnown ? { isKnown } : { isKnown, knownHandlers: others };
    context.out.result({ handler, changed, since, by: paused?.by, hasWork, ...known }, `${name}  ${text}`);
    if (!isKnown) context.out.note(describeUnknown(handler, others));
  });

/** What was there already; undefined if it was resumed meanwhile. */
function describeEarlier(paused: StoredHandler["paused"] | undefined): string {
  if (!paused) return "was paused, and has just been resumed";
  return `was paused by ${escapeControls(paused.by)} at ${paused.since}`;
}

/** Resumes a handler in all processes. */
export const resumeNamedHandler: RunCommand<typeof specs.inboxResume> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const changed = await inbox.resumeHandler(handler);
    const text = changed ? "resumed: its work runs within seconds" : "was not paused";
    context.out.result({ handler, changed }, `${escapeControls(handler)}  ${text}`);
  });

/** So many of the known names are told to a person. */
const TOLD_NAMES = 10;

/** A misspelt name pauses nothing; a handler may also be new. */
function describeUnknown(handler: string, known: readonly string[]): string {
  const near = nearestWord(handler, known);
  const told = known.slice(0, TOLD_NAMES).map(escapeControls).join(", ");
  const more = known.length > TOLD_NAMES ? ` and ${known.length - TOLD_NAMES} more` : "";
  return [
    `No work and no receiver of this inbox knows the handler ${escapeControls(handler)}. It stays paused, as it may be new.`,
    ...(near === undefined ? [] : [`Did you mean ${escapeControls(near)}? Then undo this with inbox resume.`]),
    known.length === 0 ? "No handler is known here yet." : `Known handlers: ${told}${more}.`,
  ].join("\n");
}

/** Gives stored events to a handler that has no work of them. */
export const planForHandler: RunCommand<typeof specs.inboxPlan> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { since, until, types, dryRun } = options;
    const planned = await inbox.planHistory({ handler, since, until, types, dryRun, by: "cli" });
    const hasReceiver = await inbox.hasReceiver();
    const { events, withoutBody, job } = planned;
    context.out.result(
      { handler, dryRun, events, withoutBody, job, hasReceiver },
      `${escapeControls(handler)}  ${describePlan(planned, { dryRun, hasReceiver })}`,
    );
  });

function describePlan(
  { events, withoutBody }: PlannedHistory,
  { dryRun, hasReceiver }: { dryRun: boolean; hasReceiver: boolean },
): string {
  const lost = withoutBody === 0 ? "" : `, and not ${countOf(withoutBody, "other")} whose body is gone`;
  if (events === 0) return `there are no events for it${lost}`;
  if (dryRun) return `would get ${countOf(events, "event")}${lost}`;
  const when = hasReceiver ? "while nothing else of it is due" : "when its receiver runs";
  return `gets ${countOf(events, "event")}${lost}, ${when}`;
}
