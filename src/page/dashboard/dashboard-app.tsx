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
import { DashboardTop } from "./frame/dashboard-top.js";
import { JobStrip } from "./frame/job-strip.js";
import { OutboxListView } from "./outbox/outbox-list-view.js";
import { OverviewView } from "./overview/overview-view.js";
import { type DashboardView, view, returnTo, readParam } from "./state/dashboard-address.js";
import { storeTrouble } from "./state/now.js";
import { WorkView } from "./work/work-view.js";
import { NavBar, type NavItem } from "../ui/nav-bar.js";
import { useEffect } from "preact/hooks";
import { shortText } from "./ui/short-text.js";
import { returnToRow } from "./frame/row-cursor.js";

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

const ITEMS: readonly NavItem<DashboardView>[] = [
  { name: "overview", label: "Overview", icon: "chart", key: "g o" },
  { name: "errors", label: "Errors", icon: "warning", key: "g e" },
  { name: "work", label: "Work", icon: "inbox", key: "g w" },
  { name: "outbox", label: "Outbox", icon: "send", key: "g x" },
];

function DashboardNav() {
  const current = view.value === "event" ? "work" : view.value;
  return <NavBar items={ITEMS} current={current} go={returnTo} />;
}

const TITLES: Record<DashboardView, string> = {
  overview: "Overview",
  errors: "Errors",
  work: "Work",
  event: "Event",
  outbox: "Outbox",
};

/** Names the view in the title of the page, and gives its list the focus again on the way back. */
function usePagePlace(): void {
  const current = view.value;
  const subject = { event: "id", outbox: "key", work: "groupName", overview: "handler", errors: "handler" }[current];
  const name = readParam(subject);
  useEffect(() => {
    document.title = `${TITLES[current]}${name === "" ? "" : ` ${shortText(name)}`} · pigeonhole dashboard`;
  }, [current, name]);
  useEffect(returnToRow, [current, readParam("key")]);
}
