import { EVENT_STATES } from "../../../store/state-words.js";
import { goTo, readParam, setParams } from "../../state/address.js";
import { now } from "../../state/now.js";
import { hasContacts, mayOperate } from "../../state/session.js";
import { shortText } from "../../text/format.js";
import { StateBadge } from "../../ui/badges.js";
import { Button } from "../../ui/button.js";
import { DataTable } from "../../ui/data-table.js";
import {
  ChoiceFilter,
  FilterBar,
  HandlerFilter,
  StateChoice,
  TextFilter,
  TimeFilter,
  TypeFilter,
} from "../../ui/filter-fields.js";
import { PagedRows } from "../../ui/paged-rows.js";
import { endedJobs } from "../jobs/jobs.js";
import { BulkBar } from "./bulk-bar.js";
import { EVENT_COLUMNS } from "./event-columns.js";
import { WORK_PARAMS, eventSelection, events, isNarrowed, workState } from "./work-state.js";

/** Events with work, newest first. */
export function EventList() {
  return (
    <>
      <StateChoice
        states={EVENT_STATES}
        current={workState.value}
        Badge={StateBadge}
        // Of the whole store: they say nothing about a narrowed list.
        counts={isNarrowed.value ? {} : stateCounts()}
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
      {readParam("errorGroup") !== "" && (
        <Button
          icon="cross"
          label={`Only the group ${shortText(readParam("groupName"))}`}
          class="small"
          title="Show other errors too"
          run={() => setParams({ errorGroup: "", groupName: "" })}
        />
      )}
      <PagedRows
        label="Events"
        list={events}
        params={WORK_PARAMS}
        again={endedJobs.value}
        none={{ title: "The inbox is empty" }}
        selection={eventSelection}
      >
        <DataTable
          label="Events"
          columns={EVENT_COLUMNS.filter(({ title }) => title !== "Subject" || hasContacts.value)}
          rows={events.items.value}
          keyOf={({ id }) => id}
          isInList
          list={{ selection: mayOperate.value && eventSelection, open: ({ id }) => goTo("event", { id }) }}
        />
      </PagedRows>
      <BulkBar />
    </>
  );
}

/** Work in each state, as far as it is counted; what is done is counted since the store was made. */
function stateCounts(): Partial<Record<string, number | undefined>> {
  const { pending, retrying, running, dead, parked } = { ...now.value?.store };
  return { pending, retrying, running, dead, parked };
}

/** Where secrets have names: those of the events that are listed. */
function SourceFilter() {
  const listed = events.items.value.flatMap(({ source }) => (source === "" ? [] : source));
  if (listed.length === 0 && readParam("source") === "") return null;
  return <ChoiceFilter name="source" label="Source" all="All sources" choices={listed} />;
}
