import { CONTACT_EVENT_STATES, EVENT_STATES } from "#pigeonhole/store/state-words.js";
import { HOUR } from "#pigeonhole/base/duration.js";
import type { JobBody, WorkFilter } from "#pigeonhole/dashboard/job-body.js";
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

type Filter = Readonly<Record<string, string>>;

/** So many events from the end are those whose pages are read: done, dead and parked ones. */
const BEFORE_END = 1_000;

/** Every view of the dashboard with every filter, such as few events fit, many, or none. */
export function viewsOf(stored: Stored): View[] {
  const { total } = stored;
  const [some, last] = [25, Math.floor(total / 5)].map((seq) =>
    encodeURIComponent(`${exampleId(Math.min(total, seq * 5))}:tracking:${seq}`),
  );
  return [
    ..."session running handlers jobs overview?range=1h overview?range=24h overview?range=7d".split(" "),
    ...errorFilters(stored).map((filter) => query("errors", filter)),
    ...inStates("events", EVENT_STATES, eventFilters(stored)),
    ...inStates("outbox", CONTACT_EVENT_STATES, outboxFilters(stored)),
    ...[1, 6, 9, 41].map((seq) => `events/${exampleId(total - BEFORE_END + seq)}`),
    ...[some, last, "unknown-key"].map((key) => `outbox/${key}`),
  ]
    .map((path): View => ({ path }))
    .concat(previews(stored));
}

const query = (list: string, filter: Filter): string => `${list}?${new URLSearchParams(filter).toString()}`;

/** A list with each filter, in any state and in each. */
const inStates = (list: string, states: readonly string[], filters: readonly Filter[]): string[] =>
  [{}, ...states.map((state) => ({ state }))].flatMap((state) =>
    filters.map((filter) => query(list, { ...state, ...filter })),
  );

/** Filters of one field, each as `field=value`. */
const each = (...filters: readonly string[]): Filter[] =>
  filters.map((filter) => Object.fromEntries([filter.split(/=(.*)/s)]) as Filter);

function timesOf({ now }: Pick<Stored, "now">) {
  const [hour = "", week = "", later = ""] = [1, 160, 159].map((hours) => new Date(now - hours * HOUR).toISOString());
  return { hour, week, later };
}

function errorFilters(stored: Stored): Filter[] {
  const { hour, week } = timesOf(stored);
  const ofOne = each("handler=crm", "handler=unknown", `type=${TYPES[0]}`, `since=${hour}`, `since=${week}`);
  return [{}, ...ofOne, ...each("state=dead", "state=parked", "state=running")];
}

function eventFilters({ total, now, group }: Stored): Filter[] {
  const { hour, week, later } = timesOf({ now });
  const middle = `${Math.floor(total / 2)}`;
  return [
    {},
    ...each(...[...HANDLERS, "audit", RARE.handler, "unknown"].map((handler) => `handler=${handler}`)),
    ...each(...[TYPES[0], TYPES[12], TYPES[29], RARE.type, "unknown"].map((type) => `type=${type}`)),
    ...each("error=deadlock", "error=nobody has seen this", `errorGroup=${group}`),
    ...each(`since=${hour}`, `until=${week}`, `cursor=${middle}`, "cursor=100"),
    ...each(`id=${exampleId(total)}`, `id=${exampleId(1)}`, "id=unknown"),
    ...each(`text=order ${total - 3} is`, "text=nobody has written this"),
    { since: week, until: later },
    { handler: "crm", type: TYPES[1] ?? "", error: "deadlock", since: week },
    { type: RARE.type, until: week },
    { type: "unknown", cursor: middle },
  ];
}

function outboxFilters({ total, now }: Stored): Filter[] {
  const ages = [`since=${timesOf({ now }).hour}`, `until=${new Date(now - 167 * HOUR).toISOString()}`];
  return [
    {},
    ...each("name=order.shipped", "name=unknown", `text=person${Math.floor(total / 10)}@`, "text=nobody"),
    ...each("error=no contact has", "error=nobody has seen this", `cursor=${Math.floor(total / 10)}`, "cursor=100"),
    ...each(`event=${exampleEvent(25, { total, now }).id}`, "event=unknown", ...ages),
  ];
}

function previews({ total, now, group }: Stored): View[] {
  const { hour, week } = timesOf({ now });
  const filters: WorkFilter[] = [
    {},
    ...(each("handler=crm", "handler=unknown", `type=${TYPES[0]}`, `since=${hour}`, `until=${week}`) as WorkFilter[]),
    ...(each(`errorGroup=${group}`, "error=deadlock", "error=nobody has seen this") as WorkFilter[]),
    { handler: "crm", type: TYPES[1], error: "deadlock" },
    { ids: Array.from({ length: 500 }, (_, index) => exampleId(total - index)) },
  ];
  return filters
    .flatMap((filter): JobBody[] => [
      { action: "retry", filter },
      { action: "discard", filter: { ...filter, state: "dead" } },
      { action: "run", filter },
    ])
    .map((body) => ({ path: "jobs/preview", body }));
}
