import { DAY, HOUR } from "#pigeonhole/base/duration.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { errorKeyOf } from "#pigeonhole/store/error-kind.js";

/** Thirty types: those of today, and some that come later. */
export const TYPES: readonly string[] = [
  ...EVENT_TYPES,
  "domain.failed",
  "email.archived",
  "email.labelled",
  "file.scanned",
  "form.expired",
  "mailbox.full",
];

export const HANDLERS = ["billing", "crm", "ledger", "notify", "search-index"] as const;
/** Gets every event, and never fails. */
export const AUDIT = "audit";
/** Its few failures are the oldest events of all. */
export const RARE = { handler: "archive", type: "file.scanned" } as const;

const FAILURES = [
  "TypeError: Cannot read properties of undefined (reading 'customer')",
  "Error: no customer # for this address",
  "Error: getaddrinfo ENOTFOUND crm.internal",
  "HttpError: 503 Service Unavailable from https://crm.example.com/contacts/#",
  "HttpError: 429 Too Many Requests, retry after # s",
  "TimeoutError: The operation was aborted due to timeout",
  'ValidationError: "amount" must be a number, got "#"',
  "DatabaseError: deadlock detected, process # waits for ShareLock",
  "DatabaseError: duplicate key value violates unique constraint invoice_number",
  "DoNotRetry: the account # is closed",
  "RangeError: Invalid time value",
  "Error: the address person#@customer.example.com is not known",
] as const;

/** How a piece of work ended, or what it waits for. */
export interface ExampleWork {
  handler: string;
  state: "done" | "dead" | "parked" | "pending";
  attempts: number;
  /** When it ended or failed last, in milliseconds since 1970. */
  at: number;
  /** When the next run of pending work is due. */
  dueAt: number | null;
  reason: string | null;
  error: string | null;
  /** Of the error; null when done. */
  group: string | null;
}

export interface ExampleEvent {
  seq: number;
  id: string;
  type: string;
  receivedAt: number;
  /** Undefined for one whose retention has ended. */
  body: string | undefined;
  work: ExampleWork[];
}

/** A batch of events is committed at once; failures come in batches, as outages do. */
const BATCH = 40;
const FAILS_EVERY = 5;

/** A stored week: a fifth of the events failed in some way, in some hundred groups. */
export function* exampleEvents(total: number, now: number): Generator<ExampleEvent> {
  for (let seq = 1; seq <= total; seq += 1) yield exampleEvent(seq, { total, now });
}

export function exampleEvent(seq: number, { total, now }: { total: number; now: number }): ExampleEvent {
  const isRare = seq <= 3;
  const place = Math.floor(TYPES.length * shareOf(seq) ** 2);
  const type = isRare ? RARE.type : (TYPES[place] ?? RARE.type);
  const receivedAt = Math.floor(now - 7 * DAY + (seq * 7 * DAY) / total) - 1;
  const handler = isRare ? RARE.handler : (HANDLERS[place % HANDLERS.length] ?? "crm");
  const isDone = !isRare && Math.floor((seq - 1) / BATCH) % FAILS_EVERY !== 0;
  const work = isDone ? [doneWork(handler, receivedAt, 1)] : [failedWork({ seq, type, handler, receivedAt, now })];
  const isParked = work[0]?.state === "parked";
  const isUnfinished = work[0]?.state !== "done";
  const hasBody = isUnfinished || seq > total * 0.9;
  const id = exampleId(seq);
  return {
    seq,
    id,
    type,
    receivedAt,
    body: hasBody ? bodyOf({ seq, id, type, receivedAt }) : undefined,
    work: isParked ? work : [doneWork(AUDIT, receivedAt, 1), ...work],
  };
}

export const exampleId = (seq: number): string => `evt_${seq.toString(36).padStart(8, "0")}`;

/** Between 0 and 1, mixed. */
const shareOf = (seq: number): number => ((seq * 2_654_435_761) % 4_294_967_296) / 4_294_967_296;

function doneWork(handler: string, receivedAt: number, attempts: number): ExampleWork {
  const none = { dueAt: null, reason: null, error: null, group: null };
  return { handler, state: "done", attempts, at: receivedAt + 200, ...none };
}

interface Failing {
  seq: number;
  type: string;
  handler: string;
  receivedAt: number;
  now: number;
}

function failedWork({ seq, type, handler, receivedAt, now }: Failing): ExampleWork {
  const at = Math.min(now - 1000, receivedAt + (seq % 97) * 60_000);
  const fate = type === RARE.type && seq <= 3 ? 0 : seq % 10;
  if (fate === 9) return doneWork(handler, receivedAt, 2);
  if (fate === 8) {
    const [reason, error] = ["unknown_type", `no schema knows ${type}`];
    const group = groupOf(`${type} parked`, { isParked: true, reason, error });
    return { handler: "", state: "parked", attempts: 0, at, dueAt: null, reason, error, group };
  }
  const template = FAILURES[Math.floor(seq / BATCH) % FAILURES.length] ?? FAILURES[0];
  const error = template.replace("#", String(seq));
  const group = groupOf(template, { isParked: false, error });
  if (fate >= 6)
    return { handler, state: "pending", attempts: 3, at, dueAt: now + HOUR + seq, reason: null, error, group };
  return { handler, state: "dead", attempts: 8, at, dueAt: null, reason: "attempts_exhausted", error, group };
}

const GROUPS = new Map<string, string>();

function groupOf(name: string, failure: Parameters<typeof errorKeyOf>[0]): string {
  const group = GROUPS.get(name) ?? errorKeyOf(failure);
  GROUPS.set(name, group);
  return group;
}

function bodyOf({ seq, id, type, receivedAt }: Pick<ExampleEvent, "seq" | "id" | "type" | "receivedAt">): string {
  return JSON.stringify({
    id,
    type,
    createdAt: new Date(receivedAt).toISOString(),
    data: {
      emailId: `em_${seq}`,
      from: "Orders <orders@shop.example.com>",
      to: [`person${seq}@customer.example.com`],
      subject: `Your order ${seq} is on its way`,
      tags: { campaign: `autumn-${seq % 50}`, shop: "example" },
      bounce: { type: "permanent", reason: `550 5.1.1 user person${seq} unknown` },
      text: "Thank you for your order. ".repeat(12),
    },
  });
}

/** A contact event that a handler has recorded. */
export interface ExampleContactEvent {
  seq: number;
  key: string;
  name: string;
  body: string;
  at: number;
  state: "pending" | "done" | "dead";
  inboxSeq: number;
}

const NAMES = ["order.shipped", "email.opened", "email.bounced", "invoice.paid", "customer.lost"];

/** One for every fifth event: most are sent, some were refused, the newest wait. */
export function* exampleContactEvents(total: number, now: number): Generator<ExampleContactEvent> {
  const most = Math.floor(total / 5);
  for (let seq = 1; seq <= most; seq += 1) {
    const { id, receivedAt } = exampleEvent(seq * 5, { total, now });
    const name = NAMES[seq % NAMES.length] ?? "order.shipped";
    const waits = seq > most * 0.99 || seq % 200 === 1;
    yield {
      seq,
      key: `${id}:tracking:${seq}`,
      name,
      body: JSON.stringify({ name, email: `person${seq}@customer.example.com`, properties: { order: seq } }),
      at: receivedAt + 300,
      state: waits ? "pending" : seq % 25 === 0 ? "dead" : "done",
      inboxSeq: seq * 5,
    };
  }
}
