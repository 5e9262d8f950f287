import type { JobChoice } from "../../store/bulk-jobs.js";
import type { ChangedWork, InboxOperator } from "../../store/inbox-operator.js";
import type { WorkChoice } from "../../store/inbox-view.js";
import { EXIT, type ExitCode } from "../frame/command-error.js";
import { WORK_FILTERS } from "../../store/filters.js";
import { confirm } from "../frame/confirm.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { countOf } from "../frame/format.js";
import { withInbox } from "../values/find-inbox.js";
import { changeNamed, readChosen } from "../values/change-named.js";
import type * as specs from "./spec.js";

/** What a retry did to dead and parked work, and to work that waited for its next run. */
interface Retried extends ChangedWork {
  runNow: number;
}

const NOTHING_RETRIED = "No such work is dead or parked, or waits for its next run.";
const NOTHING_STUCK = "No such work is dead or parked.";

const piecesOf = (work: number): string => `${countOf(work, "piece")} of work`;

/** Gives dead and parked work new attempts, and runs work now that waits for its next run. */
export const retryStuckWork: RunCommand<typeof specs.inboxRetry> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { ids } = args;
    const choice = readChosen(WORK_FILTERS, { names: ids, what: WHAT, options });
    const hasReceiver = await inbox.hasReceiver();
    if (choice !== undefined) {
      const { events, ...retried } = await retryChosen(inbox, choice, options.state);
      out.result(
        { ...retried, events, hasReceiver },
        describeRetry(retried, hasReceiver).join("\n") || NOTHING_RETRIED,
      );
      return EXIT.ok;
    }
    return changeNamed({ names: ids, field: "id", out }, async (id) => {
      const again = await inbox.changeEvent("retry", id);
      const retried: Retried = { ...again, runNow: (await inbox.changeEvent("run", id)).work };
      const text = describeRetry(retried, hasReceiver).join(", ") || "nothing to retry";
      return { fields: { ...retried, hasReceiver }, text };
    });
  });

async function retryChosen(
  inbox: InboxOperator,
  choice: WorkChoice,
  state: "dead" | "parked" | "retrying" | undefined,
): Promise<Retried & { events: number }> {
  const none = { work: 0, readAgain: 0, events: 0 };
  const ran = state === "dead" || state === "parked" ? none : await inbox.changeWork("run", { ...choice, state });
  const retried = state === "retrying" ? none : await inbox.changeWork("retry", { ...choice, state });
  return { ...retried, events: retried.events + ran.events, runNow: ran.work };
}

/** Ends dead and parked work, or all work of named events. */
export const discardStuckWork: RunCommand<typeof specs.inboxDiscard> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { ids } = args;
    const choice = readChosen(WORK_FILTERS, { names: ids, what: WHAT, options });
    if (choice !== undefined) return discardChosen(inbox, { ...choice, state: options.state }, context);
    const question = `End all work of ${countOf(ids.length, "event")} without running it?`;
    if (!(await confirm(question, context))) return EXIT.failed;
    return changeNamed({ names: ids, field: "id", out: context.out }, async (id) => {
      const { work } = await inbox.changeEvent("discard", id);
      return { fields: { work }, text: `${piecesOf(work)} ended` };
    });
  });

async function discardChosen(inbox: InboxOperator, choice: JobChoice, context: CommandContext): Promise<ExitCode> {
  const found = await inbox.countWork("discard", choice);
  const what = `${piecesOf(found.work)} of ${countOf(found.events, "event")}`;
  if (found.work > 0 && !(await confirm(`End ${what} without running it?`, context))) return EXIT.failed;
  const { events, work } = await inbox.changeWork("discard", choice);
  const text = work === 0 ? NOTHING_STUCK : `${piecesOf(work)} of ${countOf(events, "event")} ended`;
  context.out.result({ events, work }, text);
  return EXIT.ok;
}

const WHAT = "ids of events, or choose work";

/** What becomes of what was retried, a line for each kind; none if there is nothing. */
function describeRetry({ work, readAgain, runNow }: Retried, hasReceiver: boolean): string[] {
  const when = hasReceiver ? "by the running receiver" : "at the next start";
  return [
    ...(work === 0 ? [] : [`${countOf(work, "handler")} will run again`]),
    ...(readAgain === 0 ? [] : [`${countOf(readAgain, "parked event")} will be read again ${when}`]),
    ...(runNow === 0 ? [] : [`${piecesOf(runNow)} will run ${hasReceiver ? "now" : when}`]),
  ];
}
