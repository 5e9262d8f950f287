import type { ComponentChildren } from "preact";
import { escapeControls } from "../../base/text.js";
import { describeAnswer } from "../../capture/model/answer.js";
import { type ShownAnswer, judgeShown } from "../../capture/model/answer-advice.js";
import type { CaptureSummary, VerdictCode } from "../../capture/model/capture.js";
import { countAttempts, describeRetry } from "../../operator/describe-work.js";
import type { EventView, HandlerView } from "../../store/inbox-view.js";
import { Icon, type IconName } from "./icon.js";
import { formatTime } from "../text/format.js";
import { type ContactEventState, type EventState, STATE_WORDS, stateOfEvent } from "../../store/state-words.js";
import { piecesIn, runsAgain } from "../../operator/states.js";

interface Face {
  icon: IconName;
  tone: "good" | "warn" | "bad" | "mute";
  word: string;
  /** For the pointer and for screen readers. */
  meaning?: string;
}

/** Symbol, colour and word: never colour alone. */
export function Badge({ icon, tone, word, meaning, children }: Face & { children?: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={meaning}>
      <Icon name={icon} />
      <span class="badge-word">{word}</span>
      {children}
    </span>
  );
}

const VERDICTS: Record<VerdictCode | "resigned", Face> = {
  ok: { icon: "check", tone: "good", word: "signed", meaning: "A known secret made this signature, in time." },
  stale: { icon: "clock", tone: "warn", word: "stale", meaning: "Genuine, but signed outside the tolerance." },
  mismatch: { icon: "cross", tone: "bad", word: "mismatch", meaning: "No known secret made this signature." },
  missing: { icon: "question", tone: "mute", word: "unsigned", meaning: "There is no signature header." },
  malformed: { icon: "warning", tone: "bad", word: "malformed", meaning: "The signature header cannot be read." },
  resigned: {
    icon: "replay",
    tone: "mute",
    word: "re-signed",
    meaning: "The signature did not verify as it came; the last attempt, a replay, was signed again.",
  },
};

/** The verdict on the last attempt: a replay may have been signed again. */
export function verdictOf({ verdict, resigned }: CaptureSummary): VerdictCode | "resigned" {
  return resigned && verdict !== "ok" ? "resigned" : verdict;
}

export function VerdictBadge({ verdict }: { verdict: VerdictCode | "resigned" }) {
  return <Badge {...VERDICTS[verdict]} />;
}

interface StatusOptions {
  answer: ShownAnswer;
  error: string | null;
}

/** The answer of the app: its status, and what a receiver of this package made of the delivery. */
export function StatusBadge({ answer, error }: StatusOptions) {
  const { status, outcome, notReceived } = answer;
  if (status === null) {
    const [tone, title, word] = error === null ? ["mute", "Not sent to an app", "–"] : ["bad", error, "no answer"];
    return (
      <span class={`status ${tone}`} title={title}>
        {word}
      </span>
    );
  }
  const judgement = judgeShown(answer);
  const tone = judgement === "bad" && status < 500 ? "warn" : judgement;
  // As in the chart: neither a success of the handlers nor a fault.
  const isDuplicate = judgement === "good" && outcome === "duplicate";
  const title = notReceived ? "An HTML page: no receiver took the delivery" : describeAnswer(answer);
  return (
    <span class={`status ${isDuplicate ? "accent" : tone}`} title={title}>
      <span class="status-code">{status}</span>
      {notReceived && <span class="outcome"> HTML</span>}
      {outcome !== null && <span class="outcome"> {escapeControls(outcome)}</span>}
    </span>
  );
}

const STATE_FACES: Record<EventState, Pick<Face, "icon" | "tone">> = {
  pending: { icon: "clock", tone: "mute" },
  running: { icon: "arrow", tone: "mute" },
  retrying: { icon: "replay", tone: "warn" },
  done: { icon: "check", tone: "good" },
  discarded: { icon: "minus", tone: "mute" },
  dead: { icon: "cross", tone: "bad" },
  parked: { icon: "warning", tone: "warn" },
  unhandled: { icon: "minus", tone: "mute" },
};

/** The state of an event, or of a handler's work on it. */
export function StateBadge({ state }: { state: EventState }) {
  return <Badge {...STATE_FACES[state]} word={state} meaning={STATE_WORDS[state]} />;
}

interface ListedBadgeOptions {
  event: Pick<EventView, "state" | "handlers">;
  /** The state that the list is narrowed to; empty for none. */
  state: string;
}

/** The word of an event in a list, and why a list of that state has it: `dead`, beside it `retrying 1 of 14`. */
export function ListedBadge({ event, state }: ListedBadgeOptions) {
  const pieces = piecesIn(event.handlers, state);
  const word = event.state;
  const listed = pieces.length === 0 ? word : stateOfEvent(pieces);
  const next = listed === "retrying" ? nextRetry(pieces) : undefined;
  const detail = [listed === word ? "" : listed, next === undefined ? "" : countAttempts(next)].join(" ").trim();
  return (
    <>
      <StateBadge state={word} />
      {detail !== "" && <span class="hint state-detail">{detail}</span>}
    </>
  );
}

const CONTACT_EVENT_MEANINGS: Record<ContactEventState, string> = {
  pending: "Waits to be sent.",
  running: "Part of a call that is being made.",
  retrying: "The last try of its call failed; the call is made again.",
  done: "The service has it.",
  discarded: "Ended without being sent.",
  dead: "Refused, or too old: not sent again by itself.",
};

/** The state of a contact event. */
export function ContactStateBadge({ state }: { state: ContactEventState }) {
  return <Badge {...STATE_FACES[state]} word={state} meaning={CONTACT_EVENT_MEANINGS[state]} />;
}

interface WorkBadgeOptions {
  work: EventView | undefined;
  /** On the last replay, if that was another event. */
  replay?: EventView | undefined;
  /** Whether the first line of an error is shown. */
  hasError?: boolean;
}

/** What the handlers made of a delivery, in one word and what is to know at once. */
export function WorkBadge({ work, replay, hasError = false }: WorkBadgeOptions) {
  if (work === undefined) return null;
  const word = work.state;
  const parts = [detailOf(word, work, hasError), replay === undefined ? "" : `· replay ${replay.state}`];
  const detail = parts.filter((part) => part !== "").join(" ");
  const failed = work.handlers.filter(({ state, error }) => state !== "done" && error !== null);
  const title = [STATE_WORDS[word], ...failed.map(describeFailed)].join("\n");
  return (
    <Badge {...STATE_FACES[word]} word={word} meaning={title}>
      {detail !== "" && <span class="work-detail">{detail}</span>}
    </Badge>
  );
}

/** Such as `crm retrying, 3 of 14 attempts, next at 14:02:11: Error: no answer`. */
function describeFailed(work: HandlerView): string {
  const { handler, state, error, dueAt } = work;
  const retry = state === "retrying" ? ` ${describeRetry(work, dueAt && formatTime(dueAt))}:` : "";
  return `${handler}${retry} ${error}`.trim();
}

/** What is to know beside the word, such as `3 of 14, next 14:02:11`. */
function detailOf(word: EventState, { handlers }: EventView, hasError: boolean): string {
  if (word === "dead" || word === "parked") {
    const stopped = handlers.filter(({ state }) => state === word);
    const [first = ""] = (stopped[0]?.error ?? "").split("\n");
    if (hasError && first !== "") return first;
    return handlers.length > 1 ? `${stopped.length} of ${handlers.length}` : "";
  }
  if (word !== "retrying" && word !== "pending") return "";
  const next = nextRetry(handlers);
  if (next === undefined) return "";
  return next.dueAt === null ? countAttempts(next) : `${countAttempts(next)}, next ${formatTime(next.dueAt)}`;
}

function nextRetry(handlers: readonly HandlerView[]): HandlerView | undefined {
  return handlers.filter(runsAgain).toSorted((a, b) => (a.dueAt ?? "").localeCompare(b.dueAt ?? ""))[0];
}
