import { escapeControlsInLines } from "../../../base/text.js";
import { NOTE_HANDLER } from "../../../base/note-handler.js";
import type { ErrorGroupRow } from "../../../web/api/error-groups.js";
import { LongText } from "../../message/long-text.js";
import { FAILED_STATES } from "../../../operator/states.js";
import { StateBadge } from "../../ui/badges.js";
import { formatCount, formatExactTime, formatTime, plural } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Sparkline } from "../plots/sparkline.js";
import { linkTo } from "../../state/address.js";
import { mayOperate } from "../../state/session.js";
import { changeWork } from "../state/jobs.js";
import { shortText } from "../../ui/short-text.js";

/** Errors that have their handler, type, kind and message in common. */
export function ErrorGroupItem({ group }: { group: ErrorGroupRow }) {
  const { group: id, handler, type, kind, message, events, isCapped, failures, states, firstAt, lastAt } = group;
  const work = linkTo("work", { group: id, groupName: kind });
  const [line = ""] = (group.example.error ?? "").split("\n", 1);
  // The title says it already, unless a value of the last one differs.
  const last = message !== "" && line.endsWith(message) ? "" : line;
  return (
    <li class="group" data-row={id}>
      <div class="group-head">
        <span class="group-count" title={plural(failures, "failed run")}>
          {formatCount(events)}
          {isCapped && "+"}
        </span>
        <div class="group-title">
          <a href={work}>
            <b>{shortText(message === "" ? kind : message)}</b>
          </a>{" "}
          {message !== "" && <span class="tag">{shortText(kind)}</span>}
          {last !== "" && <p class="group-message">Last: {shortText(last)}</p>}
        </div>
        <Sparkline values={group.counts} tone="bad" label="Events by when they failed last" />
      </div>
      <p class="group-facts hint">
        <span>{handler === NOTE_HANDLER ? "not understood" : `handler ${shortText(handler)}`}</span>
        <span>{type === "" ? "unreadable" : shortText(type)}</span>
        {FAILED_STATES.map(
          (state) =>
            states[state] > 0 && (
              <span key={state}>
                {formatCount(states[state])} <StateBadge state={state} />
              </span>
            ),
        )}
        <span title={`The first of the events was received: ${formatExactTime(firstAt)}`}>
          first {formatTime(firstAt)}
        </span>
        <span title={`Last failure: ${formatExactTime(lastAt)}`}>last {formatTime(lastAt)}</span>
      </p>
      <details class="group-example">
        <summary>Example</summary>
        {group.example.error !== null && (
          <LongText text={escapeControlsInLines(group.example.error)} class="text error-text" />
        )}
        <a href={linkTo("event", { id: group.example.id })}>
          <code>{shortText(group.example.id)}</code>
        </a>
      </details>
      {mayOperate.value && <GroupActions group={group} />}
    </li>
  );
}

function GroupActions({ group: { group, kind, states } }: { group: ErrorGroupRow }) {
  const hasStopped = states.dead + states.parked > 0;
  const work = { errorGroup: group };
  const name = shortText(kind);
  return (
    <div class="actions" role="toolbar" aria-label={`Group ${name}`}>
      {hasStopped && (
        <>
          <button type="button" class="button small" onClick={() => void changeWork("retry", work)}>
            <Icon name="replay" /> Retry group
          </button>
          <button type="button" class="button small danger" onClick={() => void changeWork("discard", work)}>
            <Icon name="trash" /> Discard group
          </button>
        </>
      )}
      {states.retrying > 0 && (
        <button type="button" class="button small" onClick={() => void changeWork("run", work)}>
          <Icon name="clock" /> Run now
        </button>
      )}
    </div>
  );
}
