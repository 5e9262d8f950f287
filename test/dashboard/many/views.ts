import { CONTACT_EVENT_STATES, EVENT_STATES } from "#pigeonhole/store/state-words.js";
import { HOUR } from "#pigeonhole/base/duration.js";
import type { JobBody } from "#pigeonhole/web/api/jobs.js";
import type { WorkFilter } from "#pigeonhole/web/api/work.js";
import { HANDLERS, RARE, TYPES, exampleEvent, exampleId } from "./example-events.js";

/** What the page asks for. */
export interface View {
  /** Below `api/`. */
  path: string;
  /** Of a POST. */
  body?: JobBody;
}

interface Stored {
  total: number;
  now: number;
  /** Id of a group of errors with much work. */
  group: string;
}

/** Every view of the dashboard with every filter, such as few events fit, many, or none. */
export function viewsOf({ total, now, group }: Stored): View[] {
  return [
    "session",
    "running",
    "handlers",
    "jobs",
    ...["1h", "24h", "7d"].map((range) => `overview?range=${range}`),
    ...errorViews(now),
    ...eventViews({ total, now, group }),
    ...outboxViews({ total, now }),
    ...[1, 6, 9, 41].map((seq) => `events/${exampleId(total - BEFORE_END + seq)}`),
    `outbox/${contactKey(total, 25)}`,
    `outbox/${contactKey(total, Math.floor(total / 5))}`,
    "outbox/unknown-key",
  ]
    .map((path): View => ({ path }))
    .concat(previews({ now, group, total }));
}

/** So many events from the end are those whose pages are read: done, dead and parked ones. */
const BEFORE_END = 1_000;

const contactKey = (total: number, seq: number): string =>
  encodeURIComponent(`${exampleId(Math.min(total, seq * 5))}:tracking:${seq}`);

const query = (list: string, fields: Record<string, string>): string =>
  `${list}?${new URLSearchParams(fields).toString()}`;

function errorViews(now: number): string[] {
  const since = new Date(now - HOUR).toISOString();
  return [
    {},
    { handler: "crm" },
    { type: TYPES[0] ?? "" },
    { state: "dead" },
    { state: "parked" },
    { state: "running" },
    { since },
    { since: new Date(now - 160 * HOUR).toISOString() },
    { handler: "unknown" },
  ].map((fields) => query("errors", fields));
}

function eventViews({ total, now, group }: Stored): string[] {
  const [hour, week] = [new Date(now - HOUR).toISOString(), new Date(now - 160 * HOUR).toISOString()];
  const filters: Record<string, string>[] = [
    {},
    ...HANDLERS.map((handler) => ({ handler })),
    { handler: "audit" },
    { handler: RARE.handler },
    { handler: "unknown" },
    ...[0, 12, 29].map((place) => ({ type: TYPES[place] ?? "" })),
    { type: RARE.type },
    { type: "unknown" },
    { error: "deadlock" },
    { error: "nobody has seen this" },
    { since: hour },
    { until: week },
    { since: week, until: new Date(now - 159 * HOUR).toISOString() },
    { id: exampleId(total) },
    { id: exampleId(1) },
    { id: "unknown" },
    { text: `order ${total - 3} is` },
    { text: "nobody has written this" },
    { errorGroup: group },
    { handler: "crm", type: TYPES[1] ?? "", error: "deadlock", since: week },
    { type: RARE.type, until: week },
    { cursor: String(Math.floor(total / 2)) },
    { cursor: "100" },
    { type: "unknown", cursor: String(Math.floor(total / 2)) },
  ];
  const states = ["", ...EVENT_STATES];
  return states.flatMap((state) =>
    filters.map((fields) => query("events", state === "" ? fields : { state, ...fields })),
  );
}

function outboxViews({ total, now }: Omit<Stored, "group">): string[] {
  const filters: Record<string, string>[] = [
    {},
    { name: "order.shipped" },
    { name: "unknown" },
    { text: `person${Math.floor(total / 10)}@` },
    { text: "nobody" },
    { error: "no contact has" },
    { error: "nobody has seen this" },
    { event: exampleEvent(25, { total, now }).id },
    { event: "unknown" },
    { since: new Date(now - HOUR).toISOString() },
    { until: new Date(now - 167 * HOUR).toISOString() },
    { cursor: String(Math.floor(total / 10)) },
    { cursor: "100" },
  ];
  const states = ["", ...CONTACT_EVENT_STATES];
  return states.flatMap((state) =>
    filters.map((fields) => query("outbox", state === "" ? fields : { state, ...fields })),
  );
}

function previews({ total, now, group }: Stored): View[] {
  const [hour, week] = [new Date(now - HOUR).toISOString(), new Date(now - 160 * HOUR).toISOString()];
  const filters: WorkFilter[] = [
    {},
    { handler: "crm" },
    { handler: "unknown" },
    { type: TYPES[0] },
    { since: hour },
    { until: week },
    { errorGroup: group },
    { error: "deadlock" },
    { error: "nobody has seen this" },
    { handler: "crm", type: TYPES[1], error: "deadlock" },
    { ids: Array.from({ length: 500 }, (_, index) => exampleId(total - index)) },
  ];
  const ofStuck = filters.flatMap((filter): JobBody[] => [
    { action: "retry", filter },
    { action: "discard", filter: { ...filter, state: "dead" } },
  ]);
  const waiting = filters.map((filter): JobBody => ({ action: "run", filter }));
  return [...ofStuck, ...waiting].map((body) => ({ path: "jobs/preview", body }));
}
