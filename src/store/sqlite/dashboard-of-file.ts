import type { Database } from "better-sqlite3";
import type { DashboardSecret } from "../dashboard-secret.js";
import type { ErrorGroups } from "../error-groups.js";
import type { HandlerPauses } from "../paused-handlers.js";
import { prepareListErrorGroups, prepareListFailedHandlers } from "./operations/error-groups.js";
import { prepareListHandlers } from "./operations/list-handlers.js";
import { prepareListPaused, preparePauseHandler, prepareResumeHandler } from "./operations/paused-handlers.js";
import { prepareDashboardSecret } from "./operations/secret.js";
import { runBeside } from "./run-beside.js";

/** What a dashboard shows and keeps beside the events of a file. */
export function operateForDashboard({
  db,
  now,
}: {
  db: Database;
  now: () => number;
}): HandlerPauses & ErrorGroups & DashboardSecret {
  const pause = preparePauseHandler(db);
  const resume = prepareResumeHandler(db);
  const list = prepareListPaused(db);
  const listHandlers = prepareListHandlers(db);
  const listErrorGroups = prepareListErrorGroups(db);
  const listFailedHandlers = prepareListFailedHandlers(db);
  const secret = prepareDashboardSecret(db);
  return {
    pauseHandler: (handler, by) => runBeside(db, "immediate", () => pause({ handler, by, since: now() })),
    resumeHandler: (handler) => runBeside(db, "immediate", () => resume(handler)),
    listHandlers: () => runBeside(db, "deferred", listHandlers),
    listPaused: () => runBeside(db, "deferred", list),
    listErrorGroups: (query = {}) => runBeside(db, "deferred", () => listErrorGroups(query)),
    listFailedHandlers: () => runBeside(db, "deferred", listFailedHandlers),
    dashboardSecret: () => runBeside(db, "immediate", secret),
  };
}
