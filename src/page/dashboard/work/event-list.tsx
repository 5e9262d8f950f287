import { useEffect } from "preact/hooks";
import { EVENT_STATES } from "../../../operator/states.js";
import { goTo, readParam, setParams } from "../../state/address.js";
import { hasContacts, mayOperate } from "../../state/session.js";
import { endedJobs } from "../state/jobs.js";
import { now } from "../../state/now.js";
import { Empty } from "../../ui/empty.js";
import { StateBadge } from "../../ui/badges.js";
import { DataTable } from "../../ui/data-table.js";
import { Icon } from "../../ui/icon.js";
import { FilterBar, TextFilter, TimeFilter } from "../../ui/filter-fields.js";
import { HandlerFilter, SourceFilter, TypeFilter } from "./work-filters.js";
import { MoreButton } from "../../ui/more-button.js";
import { shortText } from "../../ui/short-text.js";
import { StateChoice } from "../../ui/state-choice.js";
import { useListRefresh } from "../../ui/use-list-refresh.js";
import { BulkBar } from "./bulk-bar.js";
import { EVENT_COLUMNS } from "./event-columns.js";
import { eventSelection, events, listKey, WORK_PARAMS, workState } from "./work-state.js";

/** Events with work, newest first. */
export function EventList() {
  const key = listKey.value;
  useEffect(() => eventSelection.keepFor(key), [key]);
  useListRefresh(
    (isAgain) => void (isAgain ? events.refresh() : events.load()),
    () => eventSelection.inSight.value.length > 0,
    [key, endedJobs.value],
  );
  return (
    <>
      <StateChoice
        states={EVENT_STATES}
        current={workState.value}
        Badge={StateBadge}
        // Of the whole store: they say nothing about a narrowed list.
        counts={WORK_PARAMS.some((name) => readParam(name) !== "") ? {} : { ...now.value?.backlog }}
      />
      <FilterBar
        label="Work"
        params={WORK_PARAMS}
        search={`ids, handlers, errors${hasContacts.value ? ", payloads" : ""}`}
      >
        <TextFilter name="error" label="Text of the error" />
        <HandlerFilter />
        <TypeFilter />
        <SourceFilter />
        <TimeFilter />
      </FilterBar>
      <GroupChip />
      <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Events">
        <Rows />
      </div>
      <BulkBar />
    </>
  );
}

function GroupChip() {
  if (readParam("group") === "") return null;
  return (
    <button
      type="button"
      class="button small"
      title="Show other errors too"
      onClick={() => setParams({ group: "", groupName: "" })}
    >
      <Icon name="cross" /> Only the group {shortText(readParam("groupName"))}
    </button>
  );
}

function Rows() {
  const { items, isLoaded, nextCursor } = events;
  if (!isLoaded.value) return <p class="hint dash-loading">Loading…</p>;
  if (items.value.length === 0) {
    const isNarrowed = WORK_PARAMS.some((name) => readParam(name) !== "");
    return (
      <Empty title={emptyTitle(isNarrowed)}>
        {isNarrowed && <p>{nextCursor.value === null ? "Show all, or ask for less." : "Search further below."}</p>}
        <MoreButton list={events} />
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        label="Events"
        columns={EVENT_COLUMNS.filter(({ title }) => title !== "Subject" || hasContacts.value)}
        rows={items.value}
        keyOf={({ id }) => id}
        isInList
        list={{ selection: mayOperate.value && eventSelection, open: ({ id }) => goTo("event", { id }) }}
      />
      <MoreButton list={events} />
    </>
  );
}

function emptyTitle(isNarrowed: boolean): string {
  if (isNarrowed) return "Nothing matches";
  return workState.value === "" ? "The inbox is empty" : `Nothing is ${workState.value}`;
}
