import { render } from "preact";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { Session } from "../../dev/api/page-api.js";
import type { EventView } from "../../store/inbox-view.js";
import { followStream } from "../api/follow-stream.js";
import { DevApp } from "./dev-app.js";
import {
  dropCaptures,
  followQuery,
  loadCaptures,
  reloadByWork,
  takeCaptures,
  closeDetail,
  openId,
} from "../state/captures.js";
import { followOpenCapture, isOfOpenEvent, loadDetail } from "../state/detail.js";
import { noteSandboxChange } from "../state/sandbox.js";
import { followRows } from "../ui/row-cursor.js";
import { loadWork, takeWork } from "../state/work.js";
import { viewer } from "../api/calls.js";
import { checkSession, loadSession, session } from "../state/session.js";
import { streamState } from "../state/now.js";
import { followKeys, isIn } from "../ui/follow-keys.js";
import { KEY_COMMANDS, runDigit } from "./commands.js";

/** The messages of the dev server's stream. */
interface DevMessages {
  capture: CaptureSummary;
  work: EventView;
  removed: { ids: string[] };
  session: Session;
  /** Something has happened in the sandbox. */
  sandbox: object;
  /** More was missed than the server keeps. */
  reset: object;
}

/** What arrives within this time is rendered together. */
const GATHER_MS = 16;

/** Takes items one by one, and gives on those that come soon after one another. */
function gather<Item>(take: (items: Item[]) => void): (item: Item) => void {
  const waiting: Item[] = [];
  return (item) => {
    if (waiting.push(item) === 1) setTimeout(() => take(waiting.splice(0)), GATHER_MS);
  };
}

/** The page of the dev server. */
export function startDev(page: Element): void {
  render(<DevApp />, page);
  followRows();
  followKeys(KEY_COMMANDS, (event) => moveToTabs(event) || runDigit(event.key));
  followQuery();
  followOpenCapture();
  void loadSession().then(loadWork);

  followStream<DevMessages>({
    onMessage: {
      capture: gather((arrived) => {
        takeCaptures(arrived);
        if (arrived.some(isOfOpenEvent)) void loadDetail();
      }),
      removed({ ids }) {
        dropCaptures(ids);
        if (ids.includes(openId.value)) closeDetail();
        // The inbox may still have their events.
        if (session.value?.inbox === true) void loadCaptures();
      },
      work: gather((work) => {
        takeWork(work);
        reloadByWork();
      }),
      session: (next) => (viewer.value = next),
      sandbox: noteSandboxChange,
      reset: loadAll,
    },
    onOpen() {
      const wasLost = streamState.value === "lost";
      streamState.value = "live";
      // Deliveries that arrived before the stream was open, also the first time, are not in the stream.
      if (!wasLost) void loadCaptures();
      // The server may be another one.
      else loadAll();
    },
    onLost() {
      streamState.value = "lost";
      void checkSession();
    },
  });
}

function loadAll(): void {
  noteSandboxChange();
  void Promise.all([loadCaptures(), loadDetail(), loadSession().then(loadWork)]);
}

/** Tab moves from the list to the tabs of the open capture. From there it works as usual. */
function moveToTabs(event: KeyboardEvent): boolean {
  if (event.key !== "Tab" || event.shiftKey || !isIn(event.target, ".dash-list") || openId.value === "") return false;
  const tab = document.querySelector<HTMLElement>('.detail [role="tab"][aria-selected="true"]');
  tab?.focus();
  return tab !== null;
}
