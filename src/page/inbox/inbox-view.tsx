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
import { InboxSelectionBar } from "./inbox-selection-bar.js";
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
} from "./inbox-state.js";
import { StateCounts } from "./state-counts.js";
import { useRefresh } from "./use-refresh.js";

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
