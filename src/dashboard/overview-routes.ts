import { handlerTimesRow } from "../dev/api/inbox-rows.js";
import { badField } from "../dev/api/page-api-error.js";
import type { FigureRange } from "../store/figures.js";
import type { DashboardOverview, RunningWork } from "./dashboard-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DashboardCall, DashboardRoute } from "./dashboard-route.js";
import type { NowReader } from "./now-reader.js";

/** What the routes of the overview work with. */
export interface OverviewRouteTools {
  operator: () => InboxOperator;
  now: Pick<NowReader, "read" | "running">;
}

const RANGES: readonly FigureRange[] = ["1h", "24h", "7d"];

/** The figures of all processes, and what runs now. */
export function overviewRoutes({ operator, now }: OverviewRouteTools): DashboardRoute[] {
  return [
    {
      method: "GET",
      path: "/api/overview",
      needs: "read",
      async handle(call): Promise<DashboardOverview> {
        const inbox = operator();
        const [series, times, current] = await Promise.all([
          inbox.readFigures(rangeOf(call)),
          inbox.handlerTimes(),
          now.read(),
        ]);
        const handlers = series.handlers.map((each) => {
          const taken = times.find(({ handler }) => handler === each.handler);
          return { ...each, times: taken === undefined ? null : handlerTimesRow(taken) };
        });
        return { ...series, handlers, now: current };
      },
    },
    { method: "GET", path: "/api/running", needs: "read", handle: (): Promise<RunningWork> => now.running() },
  ];
}

function rangeOf({ query }: DashboardCall): FigureRange {
  const given = query.get("range") || "1h";
  const range = RANGES.find((candidate) => candidate === given);
  if (range !== undefined) return range;
  throw badField("range", `must be one of ${RANGES.join(", ")}.`);
}
