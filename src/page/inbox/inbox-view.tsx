import { useEffect } from "preact/hooks";
import { NoInbox } from "../message/no-inbox.js";
import { session } from "../state/session.js";
import { Empty } from "../ui/empty.js";
import { Icon } from "../ui/icon.js";
import { SplitPane } from "../ui/split-pane.js";
import { ContactEventPane } from "./contact-event-pane.js";
import { ContactEventTable } from "./contact-event-table.js";
import { EventDetailPane } from "./event-detail-pane.js";
import { EventTable } from "./event-table.js";
import { InboxFilters } from "./inbox-filters.js";
import {
  followOpenContactEvent,
  inboxKey,
  inboxTab,
  loadInbox,
  loadOpenRow,
  openContactEvent,
  openEvent,
  openRow,
  overview,
  clearChosenRows,
} from "./inbox-state.js";
import { StateCounts } from "./state-counts.js";
import { useRefresh } from "./use-refresh.js";
import { ChooseNone } from "../ui/choose-none.js";
import { changeRows, chosenRowsInSight } from "./inbox-selection.js";

/** A receiver's database: received events, their handlers, and contact events to send. */
export function InboxView() {
  const tab = inboxTab.value;
  const key = inboxKey();
  const isGiven = session.value?.inbox === true;
  useRefresh(
    (isFirst) => {
      if (!isGiven) return;
      if (isFirst || isAtTop()) void loadInbox();
      if (!isFirst) followOpenContactEvent();
    },
    [key, isGiven],
  );

  const row = openRow.value;
  useEffect(() => void (isGiven && loadOpenRow()), [tab, row, isGiven]);

  if (!isGiven) {
    return (
      <Empty title="No inbox" isView>
        <NoInbox />
      </Empty>
    );
  }
  return (
    <div class="inbox">
      <header class="pane-head">
        <h1>Inbox</h1>
        <code class="hint">{overview.value?.database}</code>
        <span class="spring" />
        <button type="button" class="button small" onClick={() => void loadInbox()}>
          <Icon name="replay" /> Refresh
        </button>
      </header>
      {overview.value !== null && <StateCounts overview={overview.value} />}
      <SplitPane
        name="inbox"
        share={0.42}
        left={
          <div class="list-side">
            <InboxFilters key={tab} />
            {tab === "events" ? <EventTable /> : <ContactEventTable />}
            <InboxSelectionBar />
          </div>
        }
        right={openPane()}
      />
    </div>
  );
}

/** Null if no row is open. */
function openPane() {
  if (inboxTab.value === "contact-events") {
    return openContactEvent.value === null ? null : <ContactEventPane loaded={openContactEvent.value} />;
  }
  return openEvent.value === null ? null : <EventDetailPane event={openEvent.value} />;
}

/** Do not reload after the user has loaded further pages. */
function isAtTop(): boolean {
  return (document.querySelector(".inbox .table-side")?.scrollTop ?? 0) < 40;
}

/** Actions for the selected events or contact events. */
function InboxSelectionBar() {
  const rows = chosenRowsInSight();
  if (rows.length === 0) return null;
  const isEvents = inboxTab.value === "events";
  const label = isEvents ? "Chosen events" : "Chosen contact events";
  return (
    <div class="selection-bar" role="toolbar" aria-label={label}>
      <span class="selection-count">{rows.length} chosen</span>
      <button type="button" class="button primary" title="Retry (r)" onClick={() => void changeRows(rows, "retry")}>
        <Icon name="replay" /> Retry ({rows.length})
      </button>
      {isEvents && (
        <button type="button" class="button" title="Run now (R)" onClick={() => void changeRows(rows, "run")}>
          <Icon name="replay" /> Run now ({rows.length})
        </button>
      )}
      <button
        type="button"
        class="button danger"
        title="Discard (Del)"
        onClick={() => void changeRows(rows, "discard")}
      >
        <Icon name="trash" /> Discard ({rows.length})
      </button>
      <ChooseNone onClick={clearChosenRows} />
    </div>
  );
}
