import { escapeControls } from "../../base/text.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { isLate } from "../../protocol/limits.js";
import { describeLate } from "../state/diagnosis.js";
import { replayWorkOf, workOf } from "../state/work.js";
import { formatMs, shortText } from "../text/format.js";
import { StatusBadge, VerdictBadge, WorkBadge, verdictOf } from "../ui/badges.js";
import { timeColumn, type TableColumn, SubjectWords } from "../ui/data-table.js";
import { Icon } from "../ui/icon.js";

/** What the list tells of each delivery; what the handlers made of it is known where their inbox is. */
export const captureColumns = (hasInbox: boolean): readonly (TableColumn<CaptureSummary> | false)[] => [
  {
    title: "Signature",
    class: "plain verdict",
    cell: (capture) => <VerdictBadge verdict={verdictOf(capture)} />,
  },
  timeColumn("Time", ({ receivedAt }) => receivedAt, "plain"),
  {
    title: "Type",
    class: "plain type-column",
    cell: ({ type }) => (
      <button type="button" class="link">
        {type === null ? <em>unreadable</em> : shortText(type)}
      </button>
    ),
    hint: ({ type }) => shortText(type ?? ""),
  },
  {
    title: "Subject",
    class: "plain wide subject",
    cell: Subject,
    hint: ({ subject }) => shortText(subject),
  },
  { title: "Answer", class: "plain answer", cell: Answer },
  hasInbox && {
    title: "Handlers",
    class: "plain wide rest work",
    cell: (capture) => <WorkBadge work={workOf(capture)} replay={replayWorkOf(capture)} hasError />,
  },
  {
    title: "Took",
    class: "plain number extra",
    cell: ({ ms }) => <span class={isLate(ms) ? "warn" : "hint"}>{formatMs(ms)}</span>,
    hint: ({ ms }) => (isLate(ms) ? describeLate(ms ?? 0) : ""),
  },
  {
    title: "Capture",
    class: "id-column extra",
    cell: ({ id }) => <code class="hint">{captureHandle(id)}</code>,
    hint: ({ id }) => id,
  },
];

function Subject(capture: CaptureSummary) {
  return (
    <>
      {capture.pinned && (
        <span class="pinned" title="Pinned">
          <Icon name="pin" />
          <span class="unseen">Pinned</span>
        </span>
      )}
      <SubjectWords subject={capture.subject} />
      {capture.id.startsWith("inbox:") && <span class="tag">inbox only</span>}
      {capture.tags.map((tag) => (
        <span class="tag" key={tag}>
          {escapeControls(tag)}
        </span>
      ))}
    </>
  );
}

function Answer(capture: CaptureSummary) {
  const { attempts, replayed } = capture;
  return (
    <>
      <StatusBadge answer={capture} error={capture.error} />
      {attempts > 1 && (
        <span class="tries" title={replayed ? "Attempts; the last one is a replay" : "Attempts"}>
          ×{attempts}
        </span>
      )}
    </>
  );
}
