import { signedOut } from "../state/notice.js";
import { ConfirmDialog } from "../ui/confirm.js";
import { Empty } from "../ui/empty.js";
import { Guarded } from "../ui/guarded.js";
import { KeySheet } from "../ui/key-sheet.js";
import { Notices } from "../ui/notices.js";
import { ErrorsView } from "./errors/errors-view.js";
import { EventDetailView } from "./event/event-detail-view.js";
import { Banners } from "./frame/banners.js";
import { DASHBOARD_KEY_GROUPS, DASHBOARD_KEYS } from "./frame/dashboard-keys.js";
import { DashboardNav } from "./frame/dashboard-nav.js";
import { DashboardTop } from "./frame/dashboard-top.js";
import { JobStrip } from "./frame/job-strip.js";
import { usePagePlace } from "./frame/use-page-place.js";
import { OutboxListView } from "./outbox/outbox-list-view.js";
import { OverviewView } from "./overview/overview-view.js";
import { type DashboardView, view } from "./state/dashboard-address.js";
import { storeTrouble } from "./state/now.js";
import { WorkView } from "./work/work-view.js";

export function DashboardApp() {
  usePagePlace();
  if (signedOut.value) {
    return (
      <main class="main">
        <Empty title="The app does not know you any more" isView>
          <p>Log in to the app again, then load this page again. What you asked for last may not have been done.</p>
          <button type="button" class="button primary" onClick={() => location.reload()}>
            Load it again
          </button>
        </Empty>
      </main>
    );
  }
  return (
    <div class="app">
      <DashboardNav />
      <DashboardTop />
      <main class="main dash-main">
        <Banners />
        <JobStrip />
        <Guarded key={view.value} view={View} />
      </main>
      <ConfirmDialog />
      <KeySheet groups={DASHBOARD_KEY_GROUPS} commands={DASHBOARD_KEYS} />
      <Notices />
    </div>
  );
}

const VIEWS = {
  overview: OverviewView,
  errors: ErrorsView,
  work: WorkView,
  event: EventDetailView,
  outbox: OutboxListView,
};

function View() {
  // What was read before would be taken for what is there.
  if (storeTrouble.value !== null && isList(view.value))
    return <Empty title="Not shown while the store cannot be read" isView />;
  const Shown = VIEWS[view.value];
  return <Shown />;
}

/** Of the store alone. The overview shows what is in memory, and the page of an event what was read before. */
function isList(name: DashboardView): boolean {
  return name !== "overview" && name !== "event";
}
