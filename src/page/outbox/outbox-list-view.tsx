import type { ListedContactEvent } from "../../web/api/contact-events.js";
import { CONTACT_EVENT_STATES } from "../../store/state-words.js";
import { RefusalTags, describeWait } from "../message/contact-event-list.js";
import { readParam, setParams } from "../state/address.js";
import { mayOperate } from "../state/session.js";
import { formatTime, shortText } from "../text/format.js";
import { CountedAction } from "../ui/action-button.js";
import { ContactStateBadge } from "../ui/badges.js";
import { DataTable, timeColumn, type TableColumn } from "../ui/data-table.js";
import { FilterBar, StateChoice, TextFilter, TimeFilter } from "../ui/filter-fields.js";
import { PagedRows } from "../ui/paged-rows.js";
import { SelectionBar } from "../ui/selection-bar.js";
import { SplitPane } from "../ui/split-pane.js";
import { useListRefresh } from "../ui/use-list-refresh.js";
import { OutboxPane } from "./outbox-pane.js";
import {
  OUTBOX_PARAMS,
  changeOutbox,
  countOutbox,
  loadOpen,
  mayDiscardContact,
  mayRetryContact,
  openKey,
  openOutboxEvent,
  outboxList,
  outboxRowsOf,
  outboxSelection,
} from "./outbox-state.js";

/** Contact events to send to the service, and what it answered. */
export function OutboxListView() {
  const open = openKey.value;
  useListRefresh(() => void loadOpen(), [open]);
  const loaded = openOutboxEvent.value;
  const [state, isNarrowed] = [readParam("state"), OUTBOX_PARAMS.some((name) => readParam(name) !== "")];
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Outbox</h1>
        <StateChoice
          states={CONTACT_EVENT_STATES}
          current={state}
          Badge={ContactStateBadge}
          // Of the whole store: they say nothing about a narrowed list.
          counts={isNarrowed ? {} : countOutbox()}
        />
      </header>
      <FilterBar label="Outbox" params={OUTBOX_PARAMS} search="names, contacts, keys, errors">
        <TextFilter name="event" label="Id of its event" />
        <TimeFilter />
      </FilterBar>
      <SplitPane
        name="outbox"
        share={0.42}
        left={
          <>
            <PagedRows
              label="Contact events"
              list={outboxList}
              params={OUTBOX_PARAMS}
              none={{
                title: "The outbox is empty",
                text: "Contact events that handlers record wait here until the service has taken them.",
              }}
              selection={outboxSelection}
            >
              <DataTable
                label="Contact events"
                columns={COLUMNS}
                rows={outboxList.items.value}
                keyOf={({ key }) => key}
                isInList
                list={{
                  selection: mayOperate.value && outboxSelection,
                  nameOf: ({ name, contact }) => `${shortText(name)} for ${shortText(contact)}`,
                  open: ({ key }) => setParams({ key }),
                  isOpen: ({ key }) => key === open,
                }}
              />
            </PagedRows>
            <ChosenBar />
          </>
        }
        right={open === "" || loaded === null ? null : <OutboxPane event={loaded} />}
      />
    </div>
  );
}

const COLUMNS: readonly TableColumn<ListedContactEvent>[] = [
  { title: "State", class: "plain state-column", cell: (row) => <ContactStateBadge state={row.state} /> },
  timeColumn("Recorded", ({ recordedAt }) => recordedAt, "plain"),
  {
    title: "Name",
    class: "plain type-column",
    cell: ({ key, name }) => (
      <button type="button" class="link" aria-label={`${shortText(name)}, show ${shortText(key)}`}>
        {shortText(name)}
      </button>
    ),
  },
  { title: "Contact", class: "plain contact-column", cell: ({ contact }) => shortText(contact) },
  {
    title: "Why",
    class: "plain wide error-cell",
    cell: (row) => (
      <>
        <RefusalTags event={row} /> {whyOf(row)}
      </>
    ),
    hint: whyOf,
  },
  {
    title: "Tries",
    cell: ({ attempts, dueAt }) => (dueAt === null ? attempts : `${attempts}, next ${formatTime(dueAt)}`),
  },
];

function whyOf({ waitsBehind, message, reason, error }: ListedContactEvent): string {
  return shortText(waitsBehind === null ? (message ?? reason ?? error ?? "") : describeWait(waitsBehind));
}

function ChosenBar() {
  const keys = outboxSelection.inSight.value;
  if (keys.length === 0) return null;
  const rows = outboxRowsOf(keys);
  const change = (action: "retry" | "discard") => (those: readonly ListedContactEvent[]) =>
    changeOutbox(
      those.map(({ key }) => key),
      action,
    );
  return (
    <SelectionBar
      label="Chosen contact events"
      count={keys.length}
      ifTooMany="Choose fewer."
      clear={outboxSelection.clear}
    >
      <CountedAction action="retry" rows={rows.filter(mayRetryContact)} run={change("retry")} />
      <CountedAction action="discard" rows={rows.filter(mayDiscardContact)} run={change("discard")} />
    </SelectionBar>
  );
}
