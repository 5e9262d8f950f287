import type { BulkJobs } from "../store/bulk-jobs.js";
import type { ErrorGroups } from "../store/error-groups.js";
import type { FiguresReader } from "../store/figures.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { HandlerPauses } from "../store/paused-handlers.js";
import { PageApiError } from "../dev/api/page-api-error.js";

/** A secret of the store. */
export interface SecretKeeper {
  /** 32 random bytes that all processes of the store share. */
  dashboardSecret(): Promise<Uint8Array>;
}

/** What the dashboard reads and changes. A store of another maker may lack what is optional here. */
export type DashboardOperator = InboxOperator &
  Partial<HandlerPauses & BulkJobs & ErrorGroups & FiguresReader & SecretKeeper>;

/** The parts of the operator without which a page of the dashboard is left out. */
export function abilitiesOf(operator: DashboardOperator) {
  return {
    errors: operator.listErrorGroups !== undefined,
    jobs: operator.createJob !== undefined,
    pause: operator.pauseHandler !== undefined,
    figures: operator.readFigures !== undefined,
  };
}

/** The method, which this store must have for the route. */
export function mustHave<Method>(method: Method | undefined): Method {
  if (method !== undefined) return method;
  throw new PageApiError(404, { code: "no_such_path", message: "The store of this receiver cannot do this." });
}
