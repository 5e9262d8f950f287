import { NOTE_HANDLER } from "../../base/note-handler.js";
import { escapeControlsInLines } from "../../base/text.js";
import { FAILED_STATES } from "../../store/state-words.js";
import type { ErrorGroup } from "../../store/error-groups.js";
import { fetchErrorGroups } from "../api/calls.js";
import { LongText } from "../message/long-text.js";
import { linkTo, readParam, sinceOf } from "../state/address.js";
import { createPagedList } from "../state/create-paged-list.js";
import { mayOperate } from "../state/session.js";
import { formatCount, plural, shortText } from "../text/format.js";
import { ActionButton } from "../ui/action-button.js";
import { StateBadge } from "../ui/badges.js";
import { ChoiceFilter, FilterBar, HandlerFilter, TimeFilter, TypeFilter } from "../ui/filter-fields.js";
import { PagedRows } from "../ui/paged-rows.js";
import { Time } from "../ui/time.js";
import { changeWork, endedJobs } from "./jobs/jobs.js";

const errorList = createPagedList(
  (cursor) => {
    const [handler, type, state] = [readParam("handler"), readParam("type"), readParam("state")];
    return fetchErrorGroups({ handler, type, state, since: sinceOf(readParam("span")), cursor });
  },
  // One whose last failure was retried meanwhile comes again.
  ({ id }) => id,
);

const PARAMS = ["handler", "type", "state", "span"] as const;

/** Errors of work that is not done, by what they have in common. */
export function ErrorsView() {
  const count = plural(errorList.items.value.length, "group");
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Errors</h1>
        {errorList.isLoaded.value && (
          <span class="hint">{errorList.nextCursor.value === null ? count : `the newest ${count}`}</span>
        )}
      </header>
      <FilterBar label="Errors" params={PARAMS}>
        <ChoiceFilter name="state" label="State" all="All states" choices={FAILED_STATES} />
        <HandlerFilter />
        <TypeFilter />
        <TimeFilter />
      </FilterBar>
      <PagedRows
        label="Groups of errors"
        list={errorList}
        params={PARAMS}
        again={endedJobs.value}
        none={{ title: "No errors", text: "All work is done, or has not failed." }}
      >
        <ul>
          {errorList.items.value.map((group) => (
            <ErrorGroupItem key={group.id} group={group} />
          ))}
        </ul>
      </PagedRows>
    </div>
  );
}

/** Errors that have their handler, type, kind and message in common. */
function ErrorGroupItem({ group }: { group: ErrorGroup }) {
  const { id, handler, type, kind, message, events, isCapped, failures, states, firstAt, lastAt } = group;
  const error = group.example.error ?? group.example.reason;
  const [line = ""] = (error ?? "").split("\n", 1);
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
          <a href={linkTo("work", { errorGroup: id, groupName: kind })}>
            <b>{shortText(message === "" ? kind : message)}</b>
          </a>{" "}
          {message !== "" && <span class="tag">{shortText(kind)}</span>}
          {last !== "" && <p class="group-message">Last: {shortText(last)}</p>}
        </div>
        <Sparkline steps={group.steps} />
      </div>
      <p class="group-facts hint">
        <span>{handler === NOTE_HANDLER ? "not understood" : `handler ${shortText(handler)}`}</span>
        <span>{type === "" ? "unreadable" : shortText(type)}</span>
        {FAILED_STATES.filter((state) => states[state] > 0).map((state) => (
          <span key={state}>
            {formatCount(states[state])} <StateBadge state={state} />
          </span>
        ))}
        <Time at={firstAt} before="first received " />
        <Time at={lastAt} before="last failed " />
      </p>
      <details class="group-example">
        <summary>Example</summary>
        {error !== null && <LongText text={escapeControlsInLines(error)} class="text error-text" />}
        <a href={linkTo("event", { id: group.example.id })}>
          <code>{shortText(group.example.id)}</code>
        </a>
      </details>
      {mayOperate.value && <GroupActions group={group} />}
    </li>
  );
}

/** Events by when they failed last: bars in the height of a line of text, without axes. */
function Sparkline({ steps }: Pick<ErrorGroup, "steps">) {
  const label = "Events by when they failed last";
  const most = Math.max(1, ...steps.map(({ events }) => events));
  const bars = steps.map(({ events }, at) => `M${at + 0.1} 1v${-events / most}h.8V1z`);
  return (
    <svg
      class="sparkline bad"
      viewBox={`0 0 ${Math.max(1, steps.length)} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path fill="currentColor" d={bars.join("")} />
    </svg>
  );
}

function GroupActions({ group: { id, kind, states } }: { group: ErrorGroup }) {
  const work = { errorGroup: id };
  return (
    <div class="actions" role="toolbar" aria-label={`Group ${shortText(kind)}`}>
      {states.dead + states.parked > 0 && (
        <>
          <ActionButton action="retry" of="group" class="small" run={() => changeWork("retry", work)} />
          <ActionButton action="discard" of="group" class="small danger" run={() => changeWork("discard", work)} />
        </>
      )}
      {states.retrying > 0 && <ActionButton action="run" class="small" run={() => changeWork("run", work)} />}
    </div>
  );
}
