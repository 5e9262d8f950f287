import type { ReceiverParts } from "../receiver/receiver-parts.js";
import { badField } from "../web/page-api-error.js";
import { FIGURE_RANGES, type FigureRange } from "../store/figures.js";
import type { OverviewFigures, RunningWork, StoreTrouble } from "./state-now.js";
import type { WebCall, WebRoute } from "../web/web-route.js";
import type { FailureLog } from "./failure-log.js";
import type { NowReader } from "./now-reader.js";
import type { SharedReadings } from "../web/shared-readings.js";
import type { StoreOrMemory } from "./store-or-memory.js";

/** What the routes of the overview work with. */
export interface OverviewRouteTools {
  readings: Pick<SharedReadings, "readFigures">;
  receiver: Pick<ReceiverParts, "inStore">;
  now: Pick<NowReader, "readStore" | "readMemory" | "running">;
  storeOrMemory: StoreOrMemory;
  failures: Pick<FailureLog, "noteUnreadable">;
}

/** The figures of all processes, and what runs now; of this process alone while the store cannot be read. */
export function overviewRoutes({ readings, receiver, now, storeOrMemory, failures }: OverviewRouteTools): WebRoute[] {
  const readStore = async (range: FigureRange): Promise<OverviewFigures> => {
    const [{ unreadable, ...series }, current] = await Promise.all([readings.readFigures(range), now.readStore()]);
    failures.noteUnreadable(unreadable);
    return { ...series, now: current };
  };
  const readMemory = (trouble: StoreTrouble): OverviewFigures => {
    const { unreadable: _, ...recent } = receiver.inStore.figures.recent;
    return { ...recent, now: now.readMemory(trouble) };
  };
  return [
    {
      at: "GET /api/overview",
      handle(call): Promise<OverviewFigures> {
        const range = rangeOf(call);
        return storeOrMemory.read(() => readStore(range), readMemory);
      },
    },
    { at: "GET /api/running", handle: (): Promise<RunningWork> => now.running() },
  ];
}

function rangeOf({ query }: WebCall): FigureRange {
  const given = query.get("range") || "1h";
  if (Object.hasOwn(FIGURE_RANGES, given)) return given as FigureRange;
  throw badField("range", `must be one of ${Object.keys(FIGURE_RANGES).join(", ")}.`);
}
