import { Empty } from "../ui/empty.js";
import { Frame } from "../ui/frame.js";
import { KeySheet } from "../ui/key-sheet.js";
import { ErrorsView } from "./errors/errors-view.js";
import { EventDetailView } from "./event-detail-view.js";
import { Banners } from "./frame/banners.js";
import { DASHBOARD_KEY_GROUPS, DASHBOARD_KEYS } from "./frame/dashboard-keys.js";
import { DashboardTop } from "./frame/dashboard-top.js";
import { JobStrip } from "./frame/job-strip.js";
import { OutboxListView } from "../outbox/outbox-list-view.js";
import { OverviewView } from "./overview/overview-view.js";
import { type ViewName, view, readParam } from "../state/address.js";
import { storeTrouble } from "../state/now.js";
import { WorkView } from "./work/work-view.js";
import type { NavItem } from "../ui/nav-bar.js";
import { useEffect } from "preact/hooks";
import { shortText } from "../ui/short-text.js";
import { returnToRow } from "../ui/row-cursor.js";

const STRANGER = {
  title: "The app does not know you any more",
  children: (
    <>
      <p>Log in to the app again, then load this page again. What you asked for last may not have been done.</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Load it again
      </button>
    </>
  ),
};

export function DashboardApp() {
  usePagePlace();
  return (
    <Frame
      items={ITEMS}
      current={view.value === "event" ? "work" : view.value}
      top={<DashboardTop />}
      banners={
        <>
          <Banners />
          <JobStrip />
        </>
      }
      shown={View}
      dialogs={<KeySheet groups={DASHBOARD_KEY_GROUPS} commands={DASHBOARD_KEYS} />}
      stranger={STRANGER}
    />
  );
}

function View() {
  // The overview shows what is in memory, and the page of an event what was read before. What lists have read before
  // would be taken for what is there.
  if (view.value === "overview") return <OverviewView />;
  if (view.value === "event") return <EventDetailView />;
  if (storeTrouble.value !== null) return <Empty title="Not shown while the store cannot be read" isView />;
  return view.value === "errors" ? <ErrorsView /> : view.value === "work" ? <WorkView /> : <OutboxListView />;
}

const ITEMS: readonly NavItem<ViewName>[] = [
  { name: "overview", label: "Overview", icon: "chart", key: "g o" },
  { name: "errors", label: "Errors", icon: "warning", key: "g e" },
  { name: "work", label: "Work", icon: "inbox", key: "g w" },
  { name: "outbox", label: "Outbox", icon: "send", key: "g x" },
];

const TITLES: Partial<Record<ViewName, string>> = {
  overview: "Overview",
  errors: "Errors",
  work: "Work",
  event: "Event",
  outbox: "Outbox",
};

/** Parameters that name what a view is about. */
const SUBJECTS: Partial<Record<ViewName, string>> = {
  event: "id",
  outbox: "key",
  work: "groupName",
  overview: "handler",
  errors: "handler",
};

/** Names the view in the title of the page, and gives its list the focus again on the way back. */
function usePagePlace(): void {
  const current = view.value;
  const name = readParam(SUBJECTS[current] ?? "");
  useEffect(() => {
    document.title = `${TITLES[current]}${name === "" ? "" : ` ${shortText(name)}`} · pigeonhole dashboard`;
  }, [current, name]);
  useEffect(returnToRow, [current, readParam("key")]);
}
