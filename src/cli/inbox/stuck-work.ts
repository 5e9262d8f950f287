import { isRetrying } from "../../capture/model/work-word.js";
import type { InboxOperator, OperatorRetry, StuckWork } from "../../store/inbox-operator.js";
import type { WorkChoice } from "../../store/inbox-view.js";
import { confirm } from "../frame/confirm.js";
import type { RunCommand } from "../frame/context.js";
import { EXIT, type ExitCode } from "../frame/exit-code.js";
import { countOf } from "../frame/format.js";
import { forEach } from "../values/for-each.js";
import { withInbox } from "../values/find-inbox.js";
import { chooseWork, compareWithCount, piecesOf } from "./choose-work.js";
import type * as specs from "./spec.js";

const NOTHING_STUCK = "No such work is dead or parked.";

export const retryStuckWork: RunCommand<typeof specs.inboxRetry> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { ids } = args;
    const choice = readChoice(ids, options);
    if (choice !== undefined) {
      const { work: total } = await inbox.countWork(choice);
      const retried = await inbox.retryWork(choice);
      const hasReceiver = await inbox.hasReceiver();
      const { handlers, readAgain, skipped } = retried;
      const { fields, why } = compareWithCount({ total, done: handlers + readAgain, skipped });
      const lines = [...describeRetry(retried, hasReceiver), ...(why === undefined ? [] : [why])];
      out.result({ ...retried, ...fields, hasReceiver }, lines.join("\n") || NOTHING_STUCK);
      return EXIT.ok;
    }
    const hasReceiver = await inbox.hasReceiver();
    const total: OperatorRetry = { handlers: 0, readAgain: 0 };
    const exitCode = await forEach({ names: ids, field: "id", out }, async (id) => {
      const retried = await inbox.retryEvent(id);
      total.handlers += retried.handlers;
      total.readAgain += retried.readAgain;
      const [text = await describeNothing(inbox, id)] = describeRetry(retried, hasReceiver);
      return { fields: { ...retried, hasReceiver }, text };
    });
    if (ids.length > 1 && !out.isJson) out.result({}, describeRetry(total, hasReceiver).join("\n") || NOTHING_STUCK);
    return exitCode;
  });

/** Work that has failed and runs again needs no new attempts. */
async function describeNothing(inbox: InboxOperator, id: string): Promise<string> {
  const waits = (await inbox.getEvent(id))?.handlers.some(isRetrying) === true;
  return waits ? "nothing to retry: it waits for its next run, which inbox run begins now" : "nothing to retry";
}

export const discardStuckWork: RunCommand<typeof specs.inboxDiscard> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { ids } = args;
    const choice = readChoice(ids, options);
    if (choice !== undefined) return discardChosen(inbox, choice, context);
    const question = `End all work of ${countOf(ids.length, "event")} without running it?`;
    if (!(await confirm(question, context))) return EXIT.failed;
    let total = 0;
    const exitCode = await forEach({ names: ids, field: "id", out: context.out }, async (id) => {
      const handlers = await inbox.discardEvent(id);
      total += handlers;
      return { fields: { handlers }, text: `${piecesOf(handlers)} ended` };
    });
    if (ids.length > 1 && !context.out.isJson) context.out.result({}, `${piecesOf(total)} ended`);
    return exitCode;
  });

async function discardChosen(
  inbox: InboxOperator,
  choice: StuckWork,
  context: Parameters<typeof confirm>[1],
): Promise<ExitCode> {
  const found = await inbox.countWork(choice);
  const what = `${piecesOf(found.work)} of ${countOf(found.events, "event")}`;
  if (found.work > 0 && !(await confirm(`End ${what} without running it?`, context))) return EXIT.failed;
  const ended = await inbox.discardWork(choice);
  const text = `${piecesOf(ended.work)} of ${countOf(ended.events, "event")} ended`;
  const { fields, why } = compareWithCount({ total: found.work, done: ended.work });
  const lines = [ended.work === 0 ? undefined : text, why].filter((line) => line !== undefined);
  context.out.result({ ...ended, ...fields }, lines.join("\n") || NOTHING_STUCK);
  return EXIT.ok;
}

interface ChoiceOptions extends WorkChoice {
  parked: boolean;
  dead: boolean;
}

/** The work that the options choose; undefined where events are named. */
function readChoice(ids: readonly string[], options: ChoiceOptions): StuckWork | undefined {
  const { parked, dead } = options;
  const fields = chooseWork(ids, options, { parked, dead });
  // Both switches together are all that is stuck, as neither of them is.
  return fields && { ...fields, ...(parked !== dead && { state: dead ? "dead" : "parked" }) };
}

/** What becomes of what was retried, a line for each kind; none if there is nothing. */
function describeRetry({ handlers, readAgain }: OperatorRetry, hasReceiver: boolean): string[] {
  const when = hasReceiver ? "by the running receiver" : "at the next start";
  return [
    ...(handlers === 0 ? [] : [`${countOf(handlers, "handler")} will run again`]),
    ...(readAgain === 0 ? [] : [`${countOf(readAgain, "parked event")} will be read again ${when}`]),
  ];
}
