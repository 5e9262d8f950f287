import { shownAnswer } from "../../capture/model/answer-advice.js";
import type { Capture, CaptureAttempt } from "../../capture/model/capture.js";
import { readParam, setParams } from "../state/address.js";
import { StatusBadge } from "../ui/badges.js";
import { DataTable, timeColumn, type TableColumn } from "../ui/data-table.js";
import { Icon } from "../ui/icon.js";
import { AnswerDifferences } from "../message/answer-differences.js";
import { AnswerView } from "../message/answer-view.js";
import { formatMs } from "../text/format.js";
import { session } from "../state/session.js";

/** Every POST of the capture to an app, and what is different in the answer from the one before. */
export function AttemptsTab({ capture }: { capture: Capture }) {
  const { attempts } = capture;
  const shown = attempts.find(({ n }) => String(n) === readParam("attempt")) ?? attempts.at(-1);
  if (shown === undefined) return <AnswerTab capture={capture} />;
  const before = attempts[attempts.indexOf(shown) - 1];
  return (
    <>
      <DataTable
        label="Attempts"
        columns={COLUMNS}
        rows={attempts.toReversed()}
        keyOf={({ n }) => String(n)}
        list={{ isOpen: (attempt) => attempt === shown, open: ({ n }) => setParams({ attempt: String(n) }) }}
      />
      {before !== undefined && <AnswerDifferences before={before} after={shown} />}
      <AnswerView key={shown.n} attempt={shown} capture={capture} canRunAgain />
    </>
  );
}

const COLUMNS: readonly TableColumn<CaptureAttempt>[] = [
  {
    title: "#",
    class: "plain",
    cell: ({ n }) => (
      <button type="button" class="link" aria-label={`Show attempt ${n}`}>
        {n}
      </button>
    ),
  },
  {
    title: "What",
    class: "plain",
    cell: (attempt) => (
      <span class="badge">
        <Icon name={attempt.kind === "forward" ? "arrow" : "replay"} />
        {describeAttempt(attempt)}
      </span>
    ),
  },
  timeColumn("Time", ({ at }) => at, "plain"),
  {
    title: "Answer",
    class: "plain",
    cell: (attempt) => <StatusBadge answer={shownAnswer(attempt)} error={attempt.error} />,
  },
  { title: "Took", class: "number", cell: ({ ms }) => formatMs(ms) },
  {
    title: "To",
    class: "wide mute",
    cell: ({ target }) => target.replace(/^https?:\/\//, ""),
    hint: ({ target }) => target,
  },
];

function describeAttempt({ kind, mode, eventId, sentBody }: CaptureAttempt): string {
  if (kind === "forward") return "forwarded as it came";
  const parts = [kind, mode === "exact" ? "exact" : "signed again"];
  if (eventId !== null) parts.push("new id");
  else if (sentBody !== null) parts.push("edited");
  return parts.join(", ");
}

/** The last answer of the app. */
export function AnswerTab({ capture }: { capture: Capture }) {
  const attempt = capture.attempts.at(-1);
  if (attempt === undefined) {
    return (
      <div class="nothing">
        <p>Not sent to an app: nothing was answered.</p>
        {session.value?.forwards.length === 0 && (
          <p class="hint">
            Start with --forward-to 3000 and every delivery goes on to your app, the answer back to the sender.
          </p>
        )}
      </div>
    );
  }
  return <AnswerView key={attempt.n} attempt={attempt} capture={capture} canRunAgain />;
}
