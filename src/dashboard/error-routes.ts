import { HOUR, MINUTE } from "../base/duration.js";
import { isoTime } from "../base/iso-time.js";
import { momentOf, listPageOf } from "../dev/api/page-of-query.js";
import { badField } from "../dev/api/page-api-error.js";
import type { ErrorGroup } from "../store/error-groups.js";
import type { ErrorGroupPage, ErrorGroupRow } from "./dashboard-api.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { DashboardCall, DashboardRoute } from "./dashboard-route.js";
import type { PersonalData } from "./personal-data.js";

/** Of a sparkline without `since`. */
const USUAL_SPAN_MS = 24 * HOUR;
/** Points of a sparkline. */
const STEPS = 48;

/** What the routes of errors work with. */
export interface ErrorRouteTools {
  operator: () => InboxOperator;
  personal: PersonalData;
  now: () => number;
}

/** Errors by what they have in common. */
export function errorRoutes(tools: ErrorRouteTools): DashboardRoute[] {
  return [{ method: "GET", path: "/api/errors", needs: "read", handle: (call) => listGroups(tools, call) }];
}

async function listGroups(
  { operator, personal, now }: ErrorRouteTools,
  { query, person: { payloads } }: DashboardCall,
): Promise<ErrorGroupPage> {
  const [since, until] = [momentOf(query, "since"), momentOf(query, "until")];
  const end = until ?? now();
  const start = since ?? end - USUAL_SPAN_MS;
  if (start >= end) throw badField("since", "must be before until, or before now.");
  const stepMs = Math.max(MINUTE, Math.ceil((end - start) / STEPS / MINUTE) * MINUTE);
  const first = Math.floor(start / stepMs) * stepMs;
  const times = Array.from({ length: Math.ceil((end - first) / stepMs) }, (_, index) => first + index * stepMs);
  const { items, hasMore } = await operator().listErrorGroups({
    handler: query.get("handler") || undefined,
    type: query.get("type") || undefined,
    state: listPageOf(query, ["pending", "leased", "dead", "parked"]).state,
    since,
    until,
    stepMs,
  });
  const hide = (text: string): string => personal.text(text, payloads);
  return { items: items.map((group) => groupRow(group, { times, stepMs }, hide)), hasMore, times, stepMs };
}

function groupRow(
  group: ErrorGroup,
  { times, stepMs }: { times: readonly number[]; stepMs: number },
  hide: (text: string) => string,
): ErrorGroupRow {
  const { id, handler, type, kind, message, events, isCapped, failures, states, firstAt, lastAt, steps, example } =
    group;
  const { pending, leased, dead, parked } = states;
  const counts = times.map(() => 0);
  for (const step of steps) {
    const place = Math.floor((step.at - (times[0] ?? 0)) / stepMs);
    if (counts[place] !== undefined) counts[place] += step.events;
  }
  const error = example.error ?? example.reason;
  return {
    group: id,
    handler,
    type,
    kind,
    message: hide(message),
    events,
    isCapped,
    failures,
    states: { pending, leased, dead, parked },
    firstAt: isoTime(firstAt),
    lastAt: isoTime(lastAt),
    counts,
    example: { id: example.id, error: error === undefined ? null : hide(error) },
  };
}
