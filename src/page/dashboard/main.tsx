import { render } from "preact";
import { followKeys } from "../ui/follow-keys.js";
import { followDashboard } from "./api/follow-dashboard.js";
import { DashboardApp } from "./dashboard-app.js";
import { followRows } from "./frame/row-cursor.js";
import { DASHBOARD_KEYS } from "./frame/dashboard-keys.js";
import { view } from "./state/dashboard-address.js";
import { streamState, loadDashboardSession } from "./state/dashboard-session.js";
import { loadJobs, takeList } from "./state/jobs.js";
import { now, storeTrouble } from "./state/now.js";
import { loadFigures } from "./overview/figures.js";

const page = document.querySelector("#page");
if (page === null) throw new Error("index.html has no element #page");

render(<DashboardApp />, page);
followRows();
followKeys({ commands: DASHBOARD_KEYS, view: () => view.value });

followDashboard({
  onMessage: {
    now(message) {
      const isBack = storeTrouble.value !== null && message.trouble === null;
      now.value = message;
      // What was asked for meanwhile has failed.
      if (isBack) void loadDashboardSession().then(() => Promise.all([loadJobs(), loadFigures()]));
    },
    figures: () => void loadFigures(),
    jobs: ({ jobs }) => takeList(jobs),
    end: () => (streamState.value = "ended"),
  },
  onOpen() {
    streamState.value = "live";
    // The app may be another version, and something may have been missed.
    void loadDashboardSession().then(() => Promise.all([loadJobs(), loadFigures()]));
  },
  onLost() {
    // The reason: signed out, or not reached. What the app answers to this becomes a notice.
    if (streamState.value === "live") void loadDashboardSession();
    if (streamState.value !== "ended") streamState.value = "lost";
  },
});
void loadDashboardSession().then(loadJobs);
