import { HOUR, MINUTE } from "../base/duration.js";
import { isoTime } from "../base/iso-time.js";
import { escapeControls } from "../base/text.js";
import type { ErrorGroup, ErrorGroupList } from "../store/error-groups.js";
import { errorKindOf } from "../store/error-kind.js";
import { WORK_FILTERS } from "../store/filters.js";
import { FAILED_STATES } from "../store/state-words.js";
import type { PayloadAccess } from "./api/session.js";
import type { InboxTools } from "./inbox-tools.js";
import { badField } from "./page-api-error.js";
import { filtersIn, listPageOf } from "./page-of-query.js";
import { showTexts } from "./show-error.js";
import type { WebCall, WebRoute } from "./web-route.js";

/** Of a sparkline without `since`. */
const USUAL_SPAN_MS = 24 * HOUR;
/** Bars of a sparkline at most: more would be too narrow to be seen. */
const STEPS = 30;
/** At least: fewer would be blocks. */
const MIN_STEPS = 12;

/** Errors by what they have in common. */
export function errorRoutes(tools: InboxTools): WebRoute[] {
  return [{ at: "GET /api/errors", handle: (call) => listGroups(tools, call) }];
}

async function listGroups(
  { readings, personal, now }: InboxTools,
  { query, person: { payloads: rule } }: WebCall,
): Promise<ErrorGroupList> {
  const { handler, type, since, until } = filtersIn(query, WORK_FILTERS);
  const end = until ?? now();
  const start = since ?? end - USUAL_SPAN_MS;
  if (start >= end) throw badField("since", "must be before until, or before now.");
  const wanted = { handler, type, ...listPageOf(query, FAILED_STATES), since, until };
  const read = ({ stepMs }: Steps) => readings.listErrorGroups({ ...wanted, stepMs });
  let steps = stepsBetween(start, end);
  let page = await read(steps);
  // On the first day, all would be in the last step.
  const oldest = Math.min(...page.items.map(({ firstAt }) => Date.parse(firstAt)));
  const fitting = stepsBetween(oldest > start && oldest <= end ? oldest : start, end);
  if (fitting.stepMs < steps.stepMs) {
    steps = fitting;
    page = await read(steps);
  }
  const items = page.items.map((group) => ({
    ...showGroup(group, rule),
    id: personal.errorGroup(group.id),
    steps: steps.times.map((at) => group.steps.find((step) => step.at === at) ?? { at, events: 0 }),
  }));
  return { items, nextCursor: page.nextCursor };
}

/** Of sparklines, which have all steps of their time. */
interface Steps {
  /** ISO 8601. */
  times: string[];
  stepMs: number;
}

function stepsBetween(start: number, end: number): Steps {
  const stepMs = Math.max(MINUTE, Math.ceil((end - start) / STEPS / MINUTE) * MINUTE);
  const last = Math.floor(end / stepMs);
  const first = Math.min(Math.floor(start / stepMs), last - MIN_STEPS + 1);
  return { times: Array.from({ length: last - first + 1 }, (_, index) => isoTime((first + index) * stepMs)), stepMs };
}

/** A group whose texts are as a person may see them. */
function showGroup(group: ErrorGroup, rule: PayloadAccess): ErrorGroup {
  const { reason, error } = group.example;
  const example = { ...group.example, error: error === null ? null : showTexts(rule).error(error) };
  const { message } = errorKindOf({ isParked: example.state === "parked", reason, error: example.error });
  return { ...group, example, message: escapeControls(message) };
}
