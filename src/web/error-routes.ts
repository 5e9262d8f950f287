import { HOUR, MINUTE } from "../base/duration.js";
import { escapeControls } from "../base/text.js";
import { WORK_FILTERS } from "../store/filters.js";
import { filtersIn, listPageOf } from "./page-of-query.js";
import { badField } from "./page-api-error.js";
import type { ErrorGroup } from "../store/error-groups.js";
import { FAILED_STATES } from "../store/state-words.js";
import { errorKindOf } from "../store/error-kind.js";
import type { ErrorGroupPage, ErrorGroupRow } from "./api/error-groups.js";
import type { InboxCall, InboxRoute } from "./inbox-route.js";
import type { PersonalData } from "./personal-data.js";
import { showTexts } from "./show-error.js";
import type { SharedReadings } from "./shared-readings.js";

/** Of a sparkline without `since`. */
const USUAL_SPAN_MS = 24 * HOUR;
/** Points of a sparkline. */
const STEPS = 48;

/** What the routes of errors work with. */
export interface ErrorRouteTools {
  readings: Pick<SharedReadings, "listErrorGroups">;
  personal: PersonalData;
  now: () => number;
}

/** Errors by what they have in common. */
export function errorRoutes(tools: ErrorRouteTools): InboxRoute[] {
  return [{ method: "GET", path: "/api/errors", needs: "read", handle: (call) => listGroups(tools, call) }];
}

async function listGroups(
  { readings, personal, now }: ErrorRouteTools,
  { query, person: { payloads: rule } }: InboxCall,
): Promise<ErrorGroupPage> {
  const { handler, type, since, until } = filtersIn(query, WORK_FILTERS);
  const end = until ?? now();
  const start = since ?? end - USUAL_SPAN_MS;
  if (start >= end) throw badField("since", "must be before until, or before now.");
  const stepMs = Math.max(MINUTE, Math.ceil((end - start) / STEPS / MINUTE) * MINUTE);
  const first = Math.floor(start / stepMs) * stepMs;
  const times = Array.from({ length: Math.ceil((end - first) / stepMs) }, (_, index) => first + index * stepMs);
  const { items, nextCursor } = await readings.listErrorGroups({
    handler,
    type,
    ...listPageOf(query, FAILED_STATES),
    since,
    until,
    stepMs,
  });
  const shown = items.map((group) => ({
    ...groupRow(group, { times, stepMs }, showTexts(rule).error),
    group: personal.errorGroup(group.id),
  }));
  return { items: shown, nextCursor, times, stepMs };
}

function groupRow(
  group: ErrorGroup,
  { times, stepMs }: { times: readonly number[]; stepMs: number },
  show: (error: string) => string,
): ErrorGroupRow {
  const { id, handler, type, kind, message, events, isCapped, failures, states, firstAt, lastAt, steps, example } =
    group;
  const counts = times.map(() => 0);
  for (const step of steps) {
    const place = Math.floor((Date.parse(step.at) - (times[0] ?? 0)) / stepMs);
    if (counts[place] !== undefined) counts[place] += step.events;
  }
  const shown = example.error === null ? example.reason : show(example.error);
  return {
    group: id,
    handler,
    type,
    kind,
    message: message === "" ? "" : messageOf({ ...example, error: shown }),
    events,
    isCapped,
    failures,
    states,
    firstAt,
    lastAt,
    counts,
    example: { id: example.id, error: shown },
  };
}

/** The message of a group whose example is shown like this. */
function messageOf({ state, reason, error }: ErrorGroup["example"]): string {
  return escapeControls(errorKindOf({ isParked: state === "parked", reason, error }).message);
}
