import { useEffect } from "preact/hooks";
import { escapeControls } from "../../base/text.js";
import type { StoreTrouble } from "../../dashboard/state-now.js";
import { PausedBanners } from "../message/paused-banners.js";
import { OutboxListView } from "../outbox/outbox-list-view.js";
import { type ViewName, readParam, view } from "../state/address.js";
import { storeTrouble, streamState } from "../state/now.js";
import { viewer } from "../api/calls.js";
import { shortText } from "../text/format.js";
import { Button } from "../ui/button.js";
import { Empty } from "../ui/empty.js";
import { Frame } from "../ui/frame.js";
import { Icon } from "../ui/icon.js";
import { KeySheet } from "../ui/key-sheet.js";
import { returnToRow } from "../ui/row-cursor.js";
import { DASHBOARD_KEY_GROUPS, DASHBOARD_KEYS, DASHBOARD_VIEWS } from "./dashboard-keys.js";
import { ErrorsView } from "./errors-view.js";
import { EventDetailView } from "./event-detail-view.js";
import { JobStrip } from "./jobs/job-strip.js";
import { OverviewView } from "./overview/overview-view.js";
import { WorkView } from "./work/work-view.js";

const STRANGER = {
  title: "The app does not know you any more",
  children: (
    <>
      <p>Log in to the app again, then load this page again. Your last action may not have been done.</p>
      <Button label="Load it again" class="primary" run={() => location.reload()} />
    </>
  ),
};

export function DashboardApp() {
  usePagePlace();
  return (
    <Frame
      items={DASHBOARD_VIEWS}
      current={view.value === "event" ? "work" : view.value}
      top={<Top />}
      banners={
        <>
          <Banners />
          <JobStrip />
        </>
      }
      shown={View}
      sheet={<KeySheet groups={DASHBOARD_KEY_GROUPS} commands={DASHBOARD_KEYS} />}
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
    const title = DASHBOARD_VIEWS.find((item) => item.name === current)?.label ?? "Event";
    document.title = `${title}${name === "" ? "" : ` ${shortText(name)}`} · pigeonhole dashboard`;
  }, [current, name]);
  useEffect(returnToRow, [current, readParam("key")]);
}

/** Which store this is, and who looks at it. */
function Top() {
  if (viewer.value === null) return <span class="spring" />;
  const { database, name, role } = viewer.value;
  return (
    <>
      {database !== null && (
        <span class="top-item dash-database">
          <span class="top-label">Store</span>
          <code title={database}>{escapeControls(database)}</code>
          <code class="short" title={database}>
            {escapeControls(endOf(database))}
          </code>
        </span>
      )}
      <span class="spring" />
      <span class="top-item dash-person">
        <span class="top-label">{escapeControls(name)}</span>
        <span class="tag">{role === "operate" ? "may operate" : "read only"}</span>
      </span>
    </>
  );
}

/** What tells stores apart on a phone: a file with its folder, or a host with its database. */
function endOf(database: string): string {
  return database.split("/").slice(-2).join("/");
}

/** What everybody must know on every view: handlers that are paused, and that the page is not live. */
function Banners() {
  const isEnded = streamState.value === "ended";
  const isLost = streamState.value === "lost" || isEnded;
  return (
    <>
      {isLost && (
        <p class="banner bad" role="alert">
          <Icon name="warning" />
          {isEnded ? "The receiver has stopped." : "The app does not answer."} What is shown may be old. The page
          connects again by itself.
        </p>
      )}
      {!isLost && storeTrouble.value !== null && <TroubleBanner trouble={storeTrouble.value} />}
      <PausedBanners />
    </>
  );
}

function TroubleBanner({ trouble: { message, advice } }: { trouble: StoreTrouble }) {
  return (
    <p class="banner bad" role="alert">
      <Icon name="warning" />
      <span>
        <b>The store cannot be read.</b> {escapeControls(message)} {escapeControls(advice)} The overview shows this
        process alone, from its memory. Other processes and lists are not shown, and nothing can be changed. The page
        goes on by itself once the store is back.
      </span>
    </p>
  );
}
