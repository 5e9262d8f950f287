import { type Capture, recordAttempt } from "../../capture/model/capture.js";
import { readEnvelope } from "../../capture/model/captured-body.js";
import { answerAdvice, seenAnswer } from "../../capture/model/answer-advice.js";
import {
  type AnswerJudgement,
  answerHead,
  describeAnswer,
  judgeAnswer,
  whyNotRun,
} from "../../capture/model/answer.js";
import { describeDifference } from "../../capture/json/compare-json.js";
import { sentEventId } from "../../capture/model/sent-event-id.js";
import {
  replayCaptures,
  type ReplayedAttempt,
  type ReplayOptions,
  type ReplayReport,
} from "../../capture/replay/replay-captures.js";
import { usageError, EXIT, type ExitCode } from "../frame/command-error.js";
import type { CommandInput, RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import type { replay } from "./spec.js";
import { answerText, describeUnknown, isWorkUnknown, judgeWithWork, workRecord } from "../values/event-work.js";
import { type FoundEvent, type WorkReader, withWorkReader } from "../values/work-reader.js";
import { openCapturesIfAllowed, pickCaptures, readCaptures } from "../values/capture-store.js";
import { readTarget } from "../values/flag-values.js";
import { requireSigningSecret } from "../values/secret-option.js";

type Input = CommandInput<typeof replay>;

const MAX_DIFFERENCES = 5;

export const run: RunCommand<typeof replay> = (input) =>
  withWorkReader(input.options.inbox, input.context, (reader) => replaySelected(input, reader));

async function replaySelected(input: Input, inbox: WorkReader): Promise<ExitCode> {
  const { options, context } = input;
  const { out, signal } = context;
  const folder = openCapturesIfAllowed(context);
  const reader = folder ?? readCaptures(context);
  const captures = pickCaptures({ reader, words: input.args.selection }, context);
  for (const target of options.to) readTarget("--to", target);
  const replayOptions = readOptions(input, captures);
  let [isUnknown, hasFailed] = [false, false];
  const report = await replayCaptures({
    ...replayOptions,
    signal,
    onAttempt: async (replayed) => {
      const { capture, attempt } = replayed;
      const found = await readWork(inbox, replayed);
      isUnknown ||= isWorkUnknown(answerHead(attempt), found);
      hasFailed ||= attempt.status !== null && judgeWithWork(judge(replayed), found) === "bad";
      showAttempt(replayed, found, out);
      if (folder?.get(capture.id) !== undefined) {
        await folder.update(capture.id, (kept) => recordAttempt(kept, attempt));
      }
    },
  });
  if (isUnknown) out.note(describeUnknown(inbox.unread));
  showReport(report, out);
  if (hasFailed) return EXIT.failed;
  return report.unanswered > 0 ? EXIT.unreachable : EXIT.ok;
}

/**
 * The target of a capture: the given one, or that of its last attempt. A replay without an answer does not count, since
 * its target may have been a typing error. A forward counts, since the dev server was set up with it.
 */
function targetsOf({ id, attempts }: Capture, to: readonly string[]): readonly string[] {
  if (to.length > 0) return to;
  const last = attempts.findLast(({ kind, status }) => kind !== "replay" || status !== null);
  if (last !== undefined) return [last.target];
  const tried = attempts.at(-1)?.target;
  const why = tried === undefined ? "was never sent anywhere" : `was sent only to ${tried}, which did not answer`;
  throw usageError(`${id} ${why}; give --to, such as --to 3000.`);
}

function readOptions({ options, context }: Input, captures: Capture[]): ReplayOptions {
  const { to, exact, newId, times, timeout, set, unset, allowRemote } = options;
  const edit = set.length + unset.length > 0 ? { set: Object.fromEntries(set), unset } : undefined;
  if (exact && (newId || edit !== undefined)) {
    const flag = newId ? "--new-id" : "--set and --unset";
    throw usageError(`--exact sends the captured bytes, so ${flag} cannot be used with it.`);
  }
  return {
    captures,
    target: (capture) => targetsOf(capture, to),
    mode: exact ? "exact" : "resign",
    ...(newId && { identity: "new-id" }),
    times,
    timeoutMs: timeout,
    allowRemote,
    secret: exact ? undefined : requireSigningSecret(options.secret, context).value,
    edit,
  };
}

/** What the handlers made of the event, if a receiver of this package took it. */
async function readWork(inbox: WorkReader, { capture, attempt }: ReplayedAttempt): Promise<FoundEvent | undefined> {
  return answerHead(attempt).outcome === null ? undefined : await inbox.readEnded(sentEventId(capture, attempt));
}

function judge({ attempt, failure }: ReplayedAttempt): AnswerJudgement {
  return failure !== null ? "bad" : judgeAnswer(answerHead(attempt), "replay");
}

/** Why no handler ran for a replay that was answered 2xx, and how one would; undefined if one runs. */
function describeNotRun({ capture, attempt }: ReplayedAttempt): string | undefined {
  const head = answerHead(attempt);
  const why = whyNotRun(head, "replay");
  if (why === undefined || head.outcome !== "duplicate") return why && `${why}.`;
  const hasId = readEnvelope(attempt.sentBody ?? capture.request.body).id !== null;
  if (hasId) return `${why}. --new-id runs it again under a new id.`;
  return "Not run: the receiver has this body, which has no id. --set id=<id> gives it one.";
}

function showAttempt(replayed: ReplayedAttempt, found: FoundEvent | undefined, out: Output): void {
  const { capture, attempt, comparison, notes } = replayed;
  const { ms, mode, error } = attempt;
  const head = answerHead(attempt);
  const notRun = describeNotRun(replayed) ?? null;
  const signed = mode === "exact" ? "= exact" : "↻ re-signed";
  const id = attempt.eventId ?? capture.event.id ?? capture.id;
  const line = `${capture.event.type ?? "unknown type"}  ${id}  ${signed}  ${describeAnswer(head)}  ${ms} ms`;
  const advice =
    answerAdvice({ ...seenAnswer(attempt), isSigned: mode === "resign", pathFlag: "--to 3000/hooks" }) ?? null;
  const remarks = [
    ...(error === null ? [] : [error]),
    ...notes,
    ...(notRun === null ? [] : [notRun]),
    ...(comparison?.same === false ? [describeChange(comparison)] : []),
  ];
  const text = answerText({ line, judgement: judge(replayed), remarks, found, answer: attempt, advice }, out.paint);
  const changed = comparison === null ? null : !comparison.same;
  const { outcome } = head;
  const kept = { capture: capture.id, event: capture.event, attempt, outcome, changed };
  out.result({ ...kept, notes, notRun, work: workRecord(found), advice }, text);
}

function describeChange({ status, outcome, json, bodyChanged }: NonNullable<ReplayedAttempt["comparison"]>): string {
  const parts = [
    ...(status === null ? [] : [`status ${status.before ?? "no answer"} → ${status.after ?? "no answer"}`]),
    ...(outcome === null ? [] : [`outcome ${outcome.before ?? "none"} → ${outcome.after ?? "none"}`]),
    ...json.slice(0, MAX_DIFFERENCES).map(describeDifference),
    ...(json.length > MAX_DIFFERENCES ? [`${json.length - MAX_DIFFERENCES} more differences`] : []),
    ...(bodyChanged ? ["another body"] : []),
  ];
  return `Different from the time before: ${parts.join("; ")}.`;
}

function showReport({ attempts, planned, answered, changed, aborted }: ReplayReport, out: Output): void {
  const outcomes = attempts.map(({ attempt }) => answerHead(attempt).outcome);
  const duplicates = outcomes.filter((outcome) => outcome === "duplicate").length;
  const parked = outcomes.filter((outcome) => outcome === "parked").length;
  const parts = [
    `${answered} of ${planned} answered`,
    ...(duplicates > 0 ? [`${duplicates} not run, since the receiver has them`] : []),
    ...(parked > 0 ? [`${parked} parked`] : []),
    ...(changed > 0 ? [`${changed} different from the time before`] : []),
    ...(aborted ? [`aborted after ${attempts.length}`] : []),
  ];
  if (planned > 1) out.note(`${parts.join(", ")}.`);
}
