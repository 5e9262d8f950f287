import { useEffect } from "preact/hooks";
import { NoInbox } from "../message/no-inbox.js";
import { session } from "../state/session.js";
import { Empty } from "../ui/empty.js";
import { Icon } from "../ui/icon.js";
import { SplitPane } from "../ui/split-pane.js";
import { ContactEventTable } from "./contact-event-table.js";
import { EventDetailPane } from "./event-detail-pane.js";
import { EventTable } from "./event-table.js";
import { InboxFilters } from "./inbox-filters.js";
import { InboxSelectionBar } from "./inbox-selection-bar.js";
import { inboxKey, inboxTab, loadEvent, loadInbox, openEvent, openEventId, overview } from "./inbox-state.js";
import { StateCounts } from "./state-counts.js";

/** The receiver works meanwhile: interval of reloading while the page is visible. */
const REFRESH_MS = 3000;

/** A receiver's database: received events, their handlers, and contact events to send. */
export function InboxView() {
  const tab = inboxTab.value;
  const key = inboxKey();
  const isGiven = session.value?.inbox === true;
  useEffect(() => {
    if (!isGiven) return;
    void loadInbox();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && isAtTop()) void loadInbox();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [key, isGiven]);

  const id = openEventId.value;
  useEffect(() => void (isGiven && loadEvent(id)), [id, isGiven]);

  if (!isGiven) {
    return (
      <Empty title="No inbox">
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
        right={tab === "events" && openEvent.value !== null ? <EventDetailPane event={openEvent.value} /> : null}
      />
    </div>
  );
}

/** Do not reload after the user has loaded further pages. */
function isAtTop(): boolean {
  return (document.querySelector(".inbox .table-side")?.scrollTop ?? 0) < 40;
}
