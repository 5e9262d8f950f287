import type { WorkChoice } from "./inbox-view.js";
import type { ContactEventChoice } from "./outbox.js";

/** One way to narrow a list, on all surfaces. */
export interface Filter {
  /** What stands for its value in help, such as `name`. */
  value: string;
  /** The row that its condition is about: the work `w`, its event `e`, or a contact event. */
  of: "work" | "event" | "contact_event";
  /** The condition; its parameter has the filter's name. */
  where: string;
  /** What it does, as a phrase. */
  summary: string;
  /** Its value is a time, in milliseconds since 1970. @default a text */
  isTime?: true;
}

const time = (of: "event" | "contact_event", column: string, what: string) => {
  const filter = { value: "time", of, isTime: true } as const;
  const since = `Only ${what} since then, such as 1h or 2026-01-31.`;
  return {
    since: { ...filter, where: `${column} >= :since`, summary: since },
    until: { ...filter, where: `${column} < :until`, summary: `Only ${what} before then.` },
  };
};

/** Which work of events, for lists and for changes. */
export const WORK_FILTERS = {
  handler: { value: "name", of: "work", where: "w.handler = :handler", summary: "Only work of this handler." },
  type: { value: "type", of: "event", where: "e.type = :type", summary: "Only events of this type, given in full." },
  source: {
    value: "name",
    of: "event",
    where: "CASE strpos(e.id, '/') WHEN 0 THEN '' ELSE substr(e.id, 1, strpos(e.id, '/') - 1) END = :source",
    summary: "Only events of the source that the option secrets names so.",
  },
  error: {
    value: "text",
    of: "work",
    where: "(strpos(lower(w.reason), lower(:error)) > 0 OR strpos(lower(w.error), lower(:error)) > 0)",
    summary: "Only work with this text in its reason or last error; in lists, discarded work only with that state.",
  },
  errorGroup: {
    value: "id",
    of: "work",
    where: `w.handler = :groupHandler AND w.error_type = :groupType AND w.error_group = :groupKey
    AND w.failed_at IS NOT NULL`,
    summary: "Only work of this group of errors, as inbox errors names it.",
  },
  ...time("event", "e.received_at", "events received"),
} as const satisfies Record<Exclude<keyof WorkChoice, "ids">, Filter>;

/** Which contact events, for lists and for changes. */
export const CONTACT_EVENT_FILTERS = {
  name: { value: "name", of: "contact_event", where: "name = :name", summary: "Only contact events of this name." },
  error: {
    value: "text",
    of: "contact_event",
    where: `(strpos(lower(concat_ws(' ', reason, code, param, message)), lower(:error)) > 0
    OR send IN (SELECT send FROM pigeonhole.outbox_send WHERE strpos(lower(error), lower(:error)) > 0))`,
    summary: "Only those with this text in the service's answer or the last error.",
  },
  ...time("contact_event", "recorded_at", "those recorded"),
  inboxEventId: {
    value: "id",
    of: "contact_event",
    where: "inbox_seq = (SELECT seq FROM pigeonhole.inbox_event WHERE id = :inboxEventId)",
    summary: "Only those that handlers recorded for this event.",
  },
} as const satisfies Record<keyof ContactEventChoice, Filter>;

/** Of conditions by the names of their filters, those whose fields a choice has. Parameters have the same names. */
export function chosenOf(conditions: Readonly<Record<string, string>>, choice: object): string[] {
  const given = new Set(Object.keys(choice).filter((name) => choice[name as keyof typeof choice] !== undefined));
  return Object.entries(conditions).flatMap(([name, condition]) => (given.has(name) ? [condition] : []));
}

/** The conditions about one kind of row, by the names of their filters. */
export function conditionsOn(of: Filter["of"], filters: Readonly<Record<string, Filter>>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).flatMap(([name, to]) => (to.of === of ? [[name, to.where]] : [])));
}
