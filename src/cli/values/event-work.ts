import type { AnswerHead, AnswerJudgement } from "../../capture/model/answer.js";
import { judgeAdvised, plainReason } from "../../capture/model/answer-advice.js";
import { describeWork } from "../../operator/describe-work.js";
import { type EventState, hasEnded } from "../../store/state-words.js";
import { isStopped, runsAgain } from "../../operator/states.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { escapeControls, quoteForShell } from "../../base/text.js";
import type { HandlerView } from "../../store/inbox-view.js";
import type { Paint } from "../frame/output.js";
import { DATABASE_VARIABLE, URL_VARIABLE } from "./inbox-place.js";
import type { FoundEvent } from "./work-reader.js";

/** Said once by a command that shows deliveries which an app has whose inbox is not known, or could not be read. */
export function describeUnknown(unread = "No database of the app was found."): string {
  return `How the app's handlers ended is not known. ${escapeControls(unread)} Name the app's database with --inbox, or by ${DATABASE_VARIABLE} or ${URL_VARIABLE} in .env.`;
}

/** Whether a receiver has the event of this answer, and what its handlers made of it is not known. */
export function isWorkUnknown({ outcome }: AnswerHead, found: FoundEvent | undefined): boolean {
  return found === undefined && (outcome === "accepted" || outcome === "duplicate" || outcome === "parked");
}

/** The work on an event for programs; null where it is not known. */
export function workRecord(found: FoundEvent | undefined): Record<string, unknown> | null {
  if (found === undefined) return null;
  const { id, state, handlers } = found.event;
  return { id, state, handlers };
}

/** What the handlers made of an event and what to do, one sentence each; none where it is not known. */
export function describeEventWork(found: FoundEvent | undefined): string[] {
  if (found === undefined) return [];
  const { event, flag } = found;
  const { id, handlers } = event;
  const command = (name: string): string => `npx pigeonhole inbox ${name} ${quoteForShell(id)}${flag}`;
  if (handlers.length === 0) return [`No handler got it. Once there is one: ${command("retry")}`];
  const open = handlers.filter(({ state }) => !hasEnded(state));
  if (open.length === 0) return describeEnded(handlers);
  const stopped = open.filter(isStopped);
  if (stopped.length > 0) {
    const isUnread = stopped.some(({ handler }) => handler === NOTE_HANDLER);
    const when = isUnread ? "After a fix, to have the app read it again" : "To retry it";
    return [...open.map(describeWork), `${when}: ${command("retry")}`];
  }
  const runNow = open.some(runsAgain) ? [`To run it now: ${command("retry")}`] : [];
  return [...open.map(describeWork), ...runNow, `To see how it ends: ${command("show")}`];
}

/** Work that was ended without a run is not called done. */
function describeEnded(handlers: readonly HandlerView[]): string[] {
  const named = handlers.filter(({ handler }) => handler !== NOTE_HANDLER);
  if (named.length === 0) return ["Discarded."];
  const superseded = named.filter(({ reason }) => reason !== null);
  const namesOf = (ended: EventState): string =>
    named
      .filter(({ state, reason }) => state === ended && reason === null)
      .map(({ handler }) => handler)
      .join(", ");
  const [done, discarded] = [namesOf("done"), namesOf("discarded")];
  return [
    ...(done === "" ? [] : [`Done: ${done}.`]),
    ...(discarded === "" ? [] : [`Discarded: ${discarded}.`]),
    ...superseded.map(describeWork),
  ];
}

/** The work in a word, with a symbol beside the colour, which not everyone can see. */
export function paintWork(word: EventState, paint: Paint): string {
  switch (word) {
    case "done":
      return paint.green("✓ done");
    case "dead":
    case "parked":
      return paint.red(`✗ ${word}`);
    case "unhandled":
      return paint.yellow("! unhandled");
    case "discarded":
      return paint.dim("– discarded");
    case "pending":
    case "running":
    case "retrying":
      return paint.yellow(`… ${word}`);
  }
}

/** What a delivery is called whose answer and work are known: an accepted event may have died since. */
export function judgeWithWork(answer: AnswerJudgement, found: FoundEvent | undefined): AnswerJudgement {
  if (answer === "bad" || found === undefined) return answer;
  switch (found.event.state) {
    case "dead":
      return "bad";
    case "parked":
    case "retrying":
    case "unhandled":
    case "discarded":
      return "warn";
    case "pending":
    case "running":
    case "done":
      return answer;
  }
}

/** What is printed of an answered delivery. */
interface AnsweredDelivery {
  line: string;
  judgement: AnswerJudgement;
  /** One sentence each, before what the handlers made of the event. */
  remarks: readonly string[];
  /** What the handlers made of the event; undefined if it is not known. */
  found: FoundEvent | undefined;
  answer: Parameters<typeof plainReason>[0];
  advice: string | null;
}

/** A line with its symbol, and below it what there is to know and to do. */
export function answerText(
  { line, judgement, remarks, found, answer, advice }: AnsweredDelivery,
  paint: Paint,
): string {
  const sign = answerSign(judgeAdvised(judgeWithWork(judgement, found), advice), paint);
  const reason = plainReason(answer);
  const below = [
    ...remarks,
    ...describeEventWork(found),
    ...(reason === undefined ? [] : [reason]),
    ...(advice === null ? [] : [`! ${advice}`]),
  ].map((remark) => `  ${escapeControls(remark)}`);
  return [`${sign} ${escapeControls(line)}`, ...below].join("\n");
}

/** The symbol before a line about an answer, in its colour. */
export function answerSign(judgement: AnswerJudgement, paint: Paint): string {
  return { good: paint.green("✓"), warn: paint.yellow("!"), bad: paint.red("✗") }[judgement];
}
