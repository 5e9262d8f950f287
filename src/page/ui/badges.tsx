import { escapeControls } from "../../base/text.js";
import { describeAnswer } from "../../capture/model/answer.js";
import { type ShownAnswer, judgeShown } from "../../capture/model/answer-advice.js";
import type { CaptureSummary, VerdictCode } from "../../capture/model/capture.js";
import { countAttempts, describeRetry } from "../../operator/describe-work.js";
import type { ContactEventRow, EventView, HandlerView } from "../../operator/inbox-rows.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { formatTime } from "./format.js";
import { Icon, type IconName } from "./icon.js";
import { TONES } from "../state/tones.js";
import { CONTACT_EVENT_STATE_WORDS, wordOfContactEvent } from "../../operator/contact-event-word.js";
import { STATE_WORDS, WORK_WORDS, type WorkWord, isRetrying, piecesIn, wordOfWork } from "../../operator/work-word.js";

interface Face {
  icon: IconName;
  tone: "good" | "warn" | "bad" | "mute";
  word: string;
  /** One sentence for the pointer and for screen readers. */
  meaning: string;
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

/** Symbol, colour and word: never colour alone. */
export function VerdictBadge({ verdict }: { verdict: VerdictCode | "resigned" }) {
  const { icon, tone, word, meaning } = VERDICTS[verdict];
  return (
    <span class={`badge ${tone}`} title={meaning}>
      <Icon name={icon} />
      <span class="badge-word">{word}</span>
    </span>
  );
}

const NOT_RECEIVED = "An HTML page: no receiver took the delivery";

interface StatusOptions {
  answer: ShownAnswer;
  error: string | null;
}

/** The answer of the app: its status, and what a receiver of this package made of the delivery. */
export function StatusBadge({ answer, error }: StatusOptions) {
  const { status, outcome, notReceived } = answer;
  if (status === null) {
    return error === null ? (
      <span class="status mute" title="Not sent to an app">
        –
      </span>
    ) : (
      <span class="status bad" title={error}>
        no answer
      </span>
    );
  }
  const judgement = judgeShown(answer);
  const tone = judgement === "bad" && status < 500 ? "warn" : TONES[judgement];
  // As in the chart: neither a success of the handlers nor a fault.
  const isDuplicate = judgement === "good" && outcome === "duplicate";
  return (
    <span class={`status ${isDuplicate ? "accent" : tone}`} title={notReceived ? NOT_RECEIVED : describeAnswer(answer)}>
      <span class="status-code">{status}</span>
      {notReceived && <span class="outcome"> HTML</span>}
      {outcome !== null && <span class="outcome"> {escapeControls(outcome)}</span>}
    </span>
  );
}

type AnsweredCapture = Pick<CaptureSummary, "status" | "outcome" | "notReceived" | "error" | "tags">;

/** The answer to a capture. "Held" is more useful than "no answer yet". */
export function AnswerBadge({ capture }: { capture: AnsweredCapture }) {
  if (!isHeld(capture)) return <StatusBadge answer={capture} error={capture.error} />;
  return (
    <span class="status warn" title="The sender was answered 202; the app gets it when it is back.">
      held
    </span>
  );
}

type WorkFace = Pick<Face, "icon" | "tone">;

const WORK_FACES: Record<WorkWord, WorkFace> = {
  waiting: { icon: "clock", tone: "mute" },
  running: { icon: "arrow", tone: "mute" },
  retrying: { icon: "replay", tone: "warn" },
  "retry requested": { icon: "clock", tone: "warn" },
  done: { icon: "check", tone: "good" },
  discarded: { icon: "minus", tone: "mute" },
  "done and discarded": { icon: "minus", tone: "mute" },
  dead: { icon: "cross", tone: "bad" },
  parked: { icon: "warning", tone: "warn" },
  "no handler": { icon: "minus", tone: "mute" },
};

/** The states of work by which events are listed. */
const LISTED_STATES: Record<keyof typeof STATE_WORDS, Omit<Face, "word">> = {
  pending: { icon: "clock", tone: "mute", meaning: "Work that waits for its first run, or for the next one." },
  leased: { ...WORK_FACES.running, meaning: WORK_WORDS.running },
  dead: { ...WORK_FACES.dead, meaning: WORK_WORDS.dead },
  parked: { ...WORK_FACES.parked, meaning: WORK_WORDS.parked },
  done: { ...WORK_FACES.done, meaning: "Work that has finished, or was ended without a run." },
};

/** What the handlers made of an event, in one word. */
export function EventBadge({ event }: { event: Pick<EventView, "handlers"> }) {
  return <WordBadge word={wordOfWork(event)} />;
}

export function WordBadge({ word }: { word: WorkWord }) {
  return <FaceBadge word={word} face={{ ...WORK_FACES[word], meaning: WORK_WORDS[word] }} />;
}

interface ListedBadgeOptions {
  event: Pick<EventView, "handlers">;
  /** The state that the list is narrowed to; empty for none. */
  state: string;
}

/** The word of an event in a list, and why a list of that state has it: `dead`, beside it `retrying 1 of 14`. */
export function ListedBadge({ event, state }: ListedBadgeOptions) {
  const pieces = piecesIn(event.handlers, state);
  const word = wordOfWork(event);
  const listed = pieces.length === 0 ? word : wordOfWork({ handlers: pieces });
  const next = listed === "retrying" ? nextRetry(pieces) : undefined;
  const detail = [listed === word ? "" : listed, next === undefined ? "" : countAttempts(next)].join(" ").trim();
  return (
    <>
      <WordBadge word={word} />
      {detail !== "" && <span class="hint state-detail">{detail}</span>}
    </>
  );
}

/** A state of work by which events are listed. */
export function StateBadge({ state }: { state: keyof typeof STATE_WORDS }) {
  return <FaceBadge word={STATE_WORDS[state]} face={LISTED_STATES[state]} />;
}

function FaceBadge({ word, face }: { word: string; face: Omit<Face, "word"> | undefined }) {
  return (
    <span class={`badge ${face?.tone ?? "mute"}`} title={face?.meaning ?? word}>
      <Icon name={face?.icon ?? "minus"} />
      <span class="badge-word">{word}</span>
    </span>
  );
}

const CONTACT_EVENT_FACES: Record<string, Omit<Face, "word">> = {
  pending: { icon: "clock", tone: "mute", meaning: "Waits to be sent." },
  leased: { icon: "arrow", tone: "mute", meaning: "Part of a call that is being made." },
  retrying: { icon: "replay", tone: "warn", meaning: "The last try of its call failed; it is made again." },
  done: { icon: "check", tone: "good", meaning: "The service has it." },
  discarded: { icon: "minus", tone: "mute", meaning: "Ended without being sent." },
  dead: { icon: "cross", tone: "bad", meaning: "Refused, or too old: not sent again by itself." },
};

/** The states of contact events by which they are listed. */
const LISTED_CONTACT_EVENTS: Record<string, Omit<Face, "word"> | undefined> = {
  ...CONTACT_EVENT_FACES,
  leased: { icon: "arrow", tone: "mute", meaning: "Part of a call that is made, or made again." },
  done: { icon: "check", tone: "good", meaning: "The service has it, or it was ended without being sent." },
};

/** The state of a contact event, and what its state alone does not say. */
export function ContactEventBadge({ event }: { event: Pick<ContactEventRow, "state" | "dueAt" | "remoteId"> }) {
  const word = wordOfContactEvent(event);
  return <FaceBadge word={word} face={CONTACT_EVENT_FACES[word]} />;
}

/** A state by which contact events are listed. */
export function ContactStateBadge({ state }: { state: keyof typeof CONTACT_EVENT_STATE_WORDS }) {
  return <FaceBadge word={CONTACT_EVENT_STATE_WORDS[state]} face={LISTED_CONTACT_EVENTS[state]} />;
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
  const word = wordOfWork(work);
  const parts = [detailOf(word, work, hasError), replay === undefined ? "" : `· replay ${wordOfWork(replay)}`];
  const detail = parts.filter((part) => part !== "").join(" ");
  const face = WORK_FACES[word];
  const failed = work.handlers.filter(({ state, error }) => state !== "done" && error !== null);
  const title = [WORK_WORDS[word], ...failed.map(describeFailed)].join("\n");
  return (
    <span class={`badge work ${face.tone}`} title={title}>
      <Icon name={face.icon} />
      <span class="badge-word">{word}</span>
      {detail !== "" && <span class="work-detail">{detail}</span>}
    </span>
  );
}

/** Such as `crm retrying, 3 of 14 attempts, next at 14:02:11: Error: no answer`. */
function describeFailed(work: HandlerView): string {
  const { handler, error, dueAt } = work;
  const retry = isRetrying(work) ? ` ${describeRetry(work, formatTime(dueAt ?? ""))}:` : "";
  return `${handler}${retry} ${error}`.trim();
}

/** What is to know beside the word, such as `3 of 14, next 14:02:11`. */
function detailOf(word: WorkWord, { handlers }: EventView, hasError: boolean): string {
  if (word === "dead" || word === "parked") {
    const stopped = handlers.filter(({ state }) => state === word);
    const [first = ""] = (stopped[0]?.error ?? "").split("\n");
    if (hasError && first !== "") return first;
    return handlers.length > 1 ? `${stopped.length} of ${handlers.length}` : "";
  }
  if (word === "retry requested") return "waiting for the receiver";
  if (word !== "retrying" && word !== "waiting") return "";
  const next = nextRetry(handlers);
  return next === undefined ? "" : `${countAttempts(next)}, next ${formatTime(next.dueAt ?? "")}`;
}

function nextRetry(handlers: readonly HandlerView[]): HandlerView | undefined {
  return handlers.filter(isRetrying).toSorted((a, b) => (a.dueAt ?? "").localeCompare(b.dueAt ?? ""))[0];
}
