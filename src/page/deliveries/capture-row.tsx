import { Component, createElement, type ComponentChild, type FunctionComponent } from "preact";
import { escapeControls } from "../../base/text.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { EventView } from "../../operator/inbox-rows.js";
import { captureHandle } from "../../capture/model/capture-handle.js";
import { userTags } from "../../dev/forward/held-tag.js";
import { LIMITS } from "../../protocol/limits.js";
import { describeLate } from "../state/diagnosis.js";
import { chooseRange, openCapture, toggleChosen } from "../state/capture-selection.js";
import { AnswerBadge, VerdictBadge, WorkBadge, verdictOf } from "../ui/badges.js";
import { Icon } from "../ui/icon.js";
import { formatExactTime, formatMs, formatTime } from "../text/format.js";
import { SubjectWords } from "../ui/subject-words.js";

const ROW_HEIGHT = 32;

/** Height of a row of one to three lines in a list of that width; the styles of `.list` have the same heights. */
export function rowHeightAt(width: number): number {
  return width <= 500 ? 74 : width <= 860 ? 54 : ROW_HEIGHT;
}

export function isNarrow(rowHeight: number): boolean {
  return rowHeight !== ROW_HEIGHT;
}

export interface CaptureRowOptions {
  capture: CaptureSummary;
  index: number;
  isCursor: boolean;
  isOpen: boolean;
  isChosen: boolean;
  /** What the handlers made of it, if that is known. */
  work: EventView | undefined;
  /** The same of its last replay, if that was another event. */
  replayWork: EventView | undefined;
  isFresh: boolean;
}

export function rowId(id: string): string {
  return `row-${id}`;
}

function Row({ capture, index, isCursor, isOpen, isChosen, work, replayWork, isFresh }: CaptureRowOptions) {
  const classes = ["row", isCursor && "cursor", isOpen && "opened", isChosen && "chosen", isFresh && "fresh"];
  const onClick = (event: MouseEvent) => {
    if (event.shiftKey) chooseRange(capture.id);
    else if (event.ctrlKey || event.metaKey) toggleChosen(capture.id);
    else openCapture(capture.id);
  };
  const ms = capture.ms ?? 0;
  const isLate = ms > LIMITS.deliveryTimeoutMs;
  return (
    <div
      class={classes.filter((name) => name !== false).join(" ")}
      id={rowId(capture.id)}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      aria-current={isOpen}
      onClick={onClick}
    >
      <Choose id={capture.id} isChosen={isChosen} />
      <span class="cell verdict" role="gridcell">
        <VerdictBadge verdict={verdictOf(capture)} />
      </span>
      <span class="cell time" role="gridcell" title={formatExactTime(capture.receivedAt)}>
        {formatTime(capture.receivedAt)}
      </span>
      <span class="cell handle" role="gridcell" title={capture.id}>
        {captureHandle(capture.id)}
      </span>
      <span class="cell type" role="gridcell" title={escapeControls(capture.type ?? "")}>
        {capture.type === null ? <em>unreadable</em> : escapeControls(capture.type)}
      </span>
      <Subject capture={capture} />
      <span class="cell answer" role="gridcell">
        <AnswerBadge capture={capture} />
        {capture.attempts > 1 && (
          <span class="tries" title={capture.replayed ? "Attempts; the last one is a replay" : "Attempts"}>
            ×{capture.attempts}
          </span>
        )}
      </span>
      <span class="cell work" role="gridcell">
        <WorkBadge work={work} replay={replayWork} hasError />
      </span>
      <span class={isLate ? "cell ms late" : "cell ms"} role="gridcell" title={isLate ? describeLate(ms) : ""}>
        {formatMs(capture.ms)}
      </span>
    </div>
  );
}

function Choose({ id, isChosen }: { id: string; isChosen: boolean }) {
  return (
    <span class="cell choose" role="gridcell">
      <input
        type="checkbox"
        tabIndex={-1}
        checked={isChosen}
        aria-label="Choose"
        onClick={(event) => {
          event.stopPropagation();
          if (event.shiftKey) chooseRange(id);
          else toggleChosen(id);
        }}
      />
    </span>
  );
}

function Subject({ capture }: { capture: CaptureSummary }) {
  return (
    <span class="cell subject" role="gridcell" title={escapeControls(capture.subject)}>
      {capture.pinned && (
        <span class="pinned" title="Pinned">
          <Icon name="pin" />
          <span class="unseen">Pinned</span>
        </span>
      )}
      <SubjectWords subject={capture.subject} />
      {capture.id.startsWith("inbox:") && <span class="tag">inbox only</span>}
      {userTags(capture).map((tag) => (
        <span class="tag" key={tag}>
          {tag}
        </span>
      ))}
    </span>
  );
}

/** One capture in the list; rendered again only when it has changed. */
export const CaptureRow = memo(Row);

/** A component that is rendered again only when one of its props has changed. */
function memo<Options extends object>(draw: FunctionComponent<Options>): FunctionComponent<Options> {
  class Memo extends Component<Options> {
    override shouldComponentUpdate(next: Options): boolean {
      const before: Partial<Options> = this.props;
      return (Object.keys(next) as (keyof Options)[]).some((name) => next[name] !== before[name]);
    }

    override render(): ComponentChild {
      return createElement(draw, this.props);
    }
  }
  return Memo as unknown as FunctionComponent<Options>;
}
