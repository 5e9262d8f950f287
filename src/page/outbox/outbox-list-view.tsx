import { useEffect } from "preact/hooks";
import type { ListedContactEvent } from "../../web/api/contact-events.js";
import { MAX_CHOSEN } from "../../web/api/work.js";
import { CONTACT_EVENT_STATES } from "../../operator/states.js";
import { ContactStateBadge } from "../ui/badges.js";
import { ChooseNone } from "../ui/icon-button.js";
import { Empty } from "../ui/empty.js";
import { Icon } from "../ui/icon.js";
import { SplitPane } from "../ui/split-pane.js";
import { readParam, setParams } from "../state/address.js";
import { DataTable, timeColumn, type TableColumn } from "../ui/data-table.js";
import { formatTime } from "../ui/format.js";
import { shortText } from "../ui/short-text.js";
import { mayOperate } from "../state/session.js";
import { FilterBar, TextFilter, TimeFilter } from "../ui/filter-fields.js";
import { MoreButton } from "../ui/more-button.js";
import { MostChosen } from "../ui/most-chosen.js";
import { StateChoice } from "../ui/state-choice.js";
import { useListRefresh } from "../ui/use-list-refresh.js";
import { OutboxPane } from "./outbox-pane.js";
import { RefusalTags } from "../message/refusal-tags.js";
import { describeWait } from "../message/waits-behind.js";
import {
  changeOutbox,
  countOutbox,
  outboxSelection,
  outboxList,
  loadOpen,
  openOutboxEvent,
  openKey,
  OUTBOX_PARAMS,
  mayDiscardContact,
  mayRetryContact,
  outboxRowsOf,
  outboxKey,
} from "./outbox-state.js";

/** Contact events to send to the service, and what it answered. */
export function OutboxListView() {
  const key = outboxKey.value;
  const open = openKey.value;
  useEffect(() => outboxSelection.keepFor(key), [key]);
  useListRefresh(
    (isAgain) => void (isAgain ? outboxList.refresh() : outboxList.load()).then(loadOpen),
    () => outboxSelection.inSight.value.length > 0,
    [key],
  );
  useEffect(() => void loadOpen(), [open]);
  const loaded = openOutboxEvent.value;
  return (
    <div class="dash-view">
      <header class="pane-head">
        <h1>Outbox</h1>
        <StateChoice
          states={CONTACT_EVENT_STATES}
          current={readParam("state")}
          Badge={ContactStateBadge}
          // Of the whole store: they say nothing about a narrowed list.
          counts={OUTBOX_PARAMS.some((name) => readParam(name) !== "") ? {} : countOutbox()}
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
            <div class="dash-scroll dash-list" tabIndex={0} role="region" aria-label="Contact events">
              <Rows />
            </div>
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
  { title: "Contact", class: "plain wide", cell: ({ contact }) => shortText(contact) },
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

function Rows() {
  const { items, isLoaded } = outboxList;
  if (!isLoaded.value) return <p class="hint dash-loading">Loading…</p>;
  if (items.value.length === 0) {
    const isNarrowed = [...OUTBOX_PARAMS, "state"].some((name) => readParam(name) !== "");
    return (
      <Empty title={isNarrowed ? "Nothing matches" : "The outbox is empty"}>
        {!isNarrowed && <p>Contact events that handlers record wait here until the service has taken them.</p>}
        {isNarrowed && outboxList.nextCursor.value !== null && <p>Search further below.</p>}
        <MoreButton list={outboxList} />
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        label="Contact events"
        columns={COLUMNS}
        rows={items.value}
        keyOf={({ key }) => key}
        isInList
        list={{
          selection: mayOperate.value && outboxSelection,
          nameOf: ({ name, contact }) => `${shortText(name)} for ${shortText(contact)}`,
          open: ({ key }) => setParams({ key }),
          isOpen: ({ key }) => key === openKey.value,
        }}
      />
      <MoreButton list={outboxList} />
    </>
  );
}

const keysOf = (rows: readonly ListedContactEvent[]): string[] => rows.map(({ key }) => key);

function ChosenBar() {
  const keys = outboxSelection.inSight.value;
  if (keys.length === 0) return null;
  const rows = outboxRowsOf(keys);
  const [toRetry, toDiscard] = [rows.filter(mayRetryContact), rows.filter(mayDiscardContact)];
  const isTooMuch = keys.length > MAX_CHOSEN;
  return (
    <div class="selection-bar" role="toolbar" aria-label="Chosen contact events">
      <span class="selection-count">{keys.length} chosen</span>
      {isTooMuch && <MostChosen />}
      {!isTooMuch && toRetry.length > 0 && (
        <button type="button" class="button primary" onClick={() => void changeOutbox(keysOf(toRetry), "retry")}>
          <Icon name="replay" /> Retry ({toRetry.length})
        </button>
      )}
      {!isTooMuch && toDiscard.length > 0 && (
        <button type="button" class="button danger" onClick={() => void changeOutbox(keysOf(toDiscard), "discard")}>
          <Icon name="trash" /> Discard ({toDiscard.length})
        </button>
      )}
      <ChooseNone onClick={outboxSelection.clear} />
    </div>
  );
}
