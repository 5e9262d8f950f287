import { render } from "preact";
import { SECOND } from "../../base/duration.js";
import { isOfLogin, reportProblem } from "../state/notice.js";
import { followKeys } from "../ui/follow-keys.js";
import type { StreamMessages } from "../../dashboard/state-now.js";
import { followStream } from "../api/follow-stream.js";
import { DashboardApp } from "./dashboard-app.js";
import { followRows, returnToRow } from "../ui/row-cursor.js";
import { DASHBOARD_KEYS } from "./dashboard-keys.js";
import { loadSession } from "../state/session.js";
import { isUpToDate, now, storeTrouble, streamState } from "../state/now.js";
import { loadJobs, takeList } from "./jobs/jobs.js";
import { loadFigures, readPlotted } from "./overview/figures.js";

/** The heading of what is open, or else what scrolls in the view. */
const NEXT_PLACES = [".main h1[tabindex]", ".dash-scroll[tabindex]"];

/** The page of the dashboard. */
export function startDashboard(page: Element): void {
  render(<DashboardApp />, page);
  followRows();
  keepFocus();
  followKeys(DASHBOARD_KEYS);

  followStream<StreamMessages>({
    onMessage: {
      now(message) {
        const isBack = storeTrouble.value !== null && message.trouble === null;
        now.value = message;
        // What was asked for meanwhile has failed.
        if (isBack) void loadSession().then(() => Promise.all([loadJobs(), loadFigures()]));
      },
      figures: () => void loadFigures(),
      jobs: ({ jobs }) => takeList(jobs),
      end: () => (streamState.value = "ended"),
    },
    onOpen() {
      streamState.value = "live";
      // The app may be another version, and something may have been missed.
      void loadSession().then(() => Promise.all([loadJobs(), loadFigures()]));
    },
    onLost(isRefused) {
      if (isRefused) return void readByItself();
      // The reason: signed out, or not reached. What the app answers to this becomes a notice.
      if (isUpToDate.value) void loadSession();
      if (streamState.value !== "ended") streamState.value = "lost";
    },
  });
  setInterval(askWhoLooks, 30 * SECOND);
  document.addEventListener("visibilitychange", askWhoLooks);
  void loadSession().then(loadJobs);
}

/** For a page that gets no stream: a process has so many. */
async function readByItself(): Promise<void> {
  try {
    await Promise.all([readPlotted(), loadJobs()]);
    streamState.value = "polling";
  } catch (error) {
    if (isUpToDate.value || streamState.value === "connecting" || isOfLogin(error)) reportProblem(error);
    if (streamState.value !== "ended") streamState.value = "lost";
  }
}

/** The app's login can have changed meanwhile, also in another tab. */
function askWhoLooks(): void {
  if (isUpToDate.value && document.visibilityState === "visible") void loadSession();
}

/** Gives the focus another place when what has it is taken from the page, such as a button after its action. */
function keepFocus(): void {
  let focused: EventTarget | null = null;
  document.addEventListener("focusin", ({ target }) => (focused = target));
  const check = (): void => {
    if (!(focused instanceof Node) || document.activeElement !== document.body) return;
    const isGone = !focused.isConnected;
    focused = null;
    if (isGone) focusNextPlace();
  };
  // A click beside everything takes the focus from what stays.
  document.addEventListener("focusout", () => queueMicrotask(check));
  new MutationObserver(check).observe(document.body, { childList: true, subtree: true });
}

function focusNextPlace(): void {
  returnToRow();
  for (const place of NEXT_PLACES) {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>(place)?.focus();
  }
}
