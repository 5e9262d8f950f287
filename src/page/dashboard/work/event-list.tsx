import type { ComponentType } from "preact";
import { WORK_FILTERS } from "../../../store/filters.js";
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

/** Of filters that no text is typed for. */
const OWN_FIELDS: Partial<Record<string, ComponentType | null>> = {
  handler: HandlerFilter,
  type: TypeFilter,
  source: SourceFilter,
  // Chosen among groups, and shown below.
  errorGroup: null,
  since: TimeFilter,
  until: null,
};

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
        {Object.entries(WORK_FILTERS).map(([name, { value }]) => {
          const Field = OWN_FIELDS[name];
          if (Field === undefined) return <TextFilter key={name} name={name} label={`${name}: ${value}`} />;
          return Field !== null && <Field key={name} />;
        })}
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
