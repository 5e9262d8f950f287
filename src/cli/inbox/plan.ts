import { escapeControls } from "../../base/text.js";
import type { PlannedHistory } from "../../store/history.js";
import type { RunCommand } from "../frame/context.js";
import { countOf } from "../frame/format.js";
import { withInbox } from "../values/find-inbox.js";
import type { inboxPlan } from "./spec.js";

/** Gives stored events to a handler that has no work of them. */
export const plan: RunCommand<typeof inboxPlan> = ({ args: { handler }, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { since, until, types, dryRun } = options;
    const planned = await inbox.planHistory({ handler, since, until, types, dryRun, by: "cli" });
    const hasReceiver = await inbox.hasReceiver();
    const { events, withoutBody, job } = planned;
    context.out.result(
      { handler, dryRun, events, withoutBody, job: job ?? null, hasReceiver },
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
