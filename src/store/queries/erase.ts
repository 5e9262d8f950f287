import { type MentionsEmail, createMentionsEmail } from "../../base/mentions-email.js";
import { ERASED_TEXT, type JobChoice, type JobRow } from "../bulk-jobs.js";
import {
  type EraseCounts,
  type EraseCursor,
  type ErasePage,
  type EraseRequest,
  NOTHING_ERASED,
  addCounts,
} from "../erase.js";
import { eraseContactEvent } from "../same-contact-event.js";
import { discardContactEvent } from "./contact-event-changes.js";
import { MAY_END, endWork } from "./ending-work.js";
import { type StoreQuery, exists, lockEvents, readFirst, readRows, run } from "./store-query.js";

/** One page is one transaction, and its bodies are read at once: on SQLite deliveries wait for some milliseconds. */
const ERASED_ROWS = 200;

interface EraseTask {
  mentions: MentionsEmail;
  now: number;
  dryRun: boolean;
}

/** Rows of a list after one number, through another. */
type EraseRange = Pick<EraseCursor, "afterSeq" | "throughSeq">;

interface ErasedRows {
  counts: readonly Partial<EraseCounts>[];
  lastSeq: number | undefined;
}

const PAGE_BYTES = 4 * 1024 * 1024;

/** In this order. */
const LISTS = {
  events: { erase: eraseEvents, last: "max(seq) FROM pigeonhole.inbox_event" },
  contactEvents: { erase: eraseContactEvents, last: "max(seq) FROM pigeonhole.outbox_event" },
  jobs: { erase: eraseJobs, last: "max(job) FROM pigeonhole.inbox_job" },
} as const;

/** Erases what mentions an address, a page at a time: of the events, the contact events and the jobs. */
export function* erasePage({ email, now, dryRun, cursor }: EraseRequest): StoreQuery<ErasePage> {
  const task = { mentions: createMentionsEmail(email), now, dryRun };
  const { list, afterSeq, throughSeq } = cursor ?? (yield* beginList("events"));
  const found = yield* LISTS[list].erase({ afterSeq, throughSeq }, task);
  const counts = found.counts.reduce(addCounts, NOTHING_ERASED);
  if (found.lastSeq !== undefined && found.lastSeq < throughSeq) {
    return { ...counts, next: { list, afterSeq: found.lastSeq, throughSeq } };
  }
  const lists = Object.keys(LISTS) as EraseCursor["list"][];
  const next = lists[lists.indexOf(list) + 1];
  return { ...counts, next: next && (yield* beginList(next)) };
}

function* beginList(list: EraseCursor["list"]): StoreQuery<EraseCursor> {
  const row = yield* readFirst<{ last: number | null }>(`SELECT (SELECT ${LISTS[list].last}) AS last`);
  return { list, afterSeq: 0, throughSeq: row?.last ?? 0 };
}

const SELECT_BODIES = `
  WITH page AS (
    SELECT seq, coalesce(sum(body_length) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes
    FROM (
      SELECT seq, body_length FROM pigeonhole.inbox_event WHERE seq > :afterSeq AND seq <= :throughSeq
      ORDER BY seq LIMIT ${ERASED_ROWS}) AS e
  )
  SELECT p.seq, b.body FROM page AS p LEFT JOIN pigeonhole.inbox_body AS b ON b.seq = p.seq
  WHERE p.bytes < ${PAGE_BYTES} ORDER BY p.seq`;

const SELECT_TEXTS = `
  SELECT seq, error AS text FROM pigeonhole.inbox_work WHERE seq = ANY(:seqs) AND error IS NOT NULL
  UNION ALL SELECT seq, stack FROM pigeonhole.inbox_failed WHERE seq = ANY(:seqs)
  UNION ALL SELECT seq, name FROM pigeonhole.inbox_step WHERE seq = ANY(:seqs)
  UNION ALL SELECT seq, value FROM pigeonhole.inbox_step WHERE seq = ANY(:seqs)`;

/** What an event keeps is its row and its ended work: a redelivery is a duplicate, and nothing runs twice. */
function* eraseEvents(range: EraseRange, task: EraseTask): StoreQuery<ErasedRows> {
  const rows = yield* readRows<{ seq: number; body: Uint8Array | null }>(SELECT_BODIES, range);
  const seqs = rows.map(({ seq }) => seq);
  const texts = yield* readRows<{ seq: number; text: string }>(SELECT_TEXTS, { seqs });
  const inTexts = new Set(texts.filter(({ text }) => task.mentions(text)).map(({ seq }) => seq));
  const counts: Partial<EraseCounts>[] = [];
  for (const { seq, body } of rows) {
    if (inTexts.has(seq) || (body !== null && task.mentions(body))) counts.push(yield* eraseEvent(seq, task));
  }
  return { counts, lastSeq: seqs.at(-1) };
}

function* eraseEvent(seq: number, { now, dryRun }: EraseTask): StoreQuery<Partial<EraseCounts>> {
  yield* lockEvents([seq]);
  const work = dryRun ? yield* countEnding(seq) : yield* endWork({ seq, now });
  const leased = "SELECT 1 AS found FROM pigeonhole.inbox_work WHERE seq = :seq AND state = 'leased'";
  if (yield* exists(leased, { seq })) return { work, eventsLeft: 1 };
  if (!dryRun) {
    for (const table of ["inbox_body", "inbox_failed", "inbox_step"])
      yield* run(`DELETE FROM pigeonhole.${table} WHERE seq = :seq`, { seq });
    // A digest of a key that is an address tells one who knows the address.
    const forget = "newest_key = NULL, created_at = NULL WHERE seq = :seq AND newest_key IS NOT NULL";
    yield* run(`UPDATE pigeonhole.inbox_work SET ${forget}`, { seq });
  }
  return { work, events: 1 };
}

function* countEnding(seq: number): StoreQuery<number> {
  const counted = `SELECT count(*) AS work FROM pigeonhole.inbox_work WHERE seq = :seq AND ${MAY_END}`;
  return (yield* readFirst<{ work: number }>(counted, { seq }))?.work ?? 0;
}

/** A job keeps all but the text by which its work was chosen. */
function* eraseJobs(range: EraseRange, { dryRun }: EraseTask): StoreQuery<ErasedRows> {
  const rows = yield* readRows<StoredJob & { job: number }>(
    `SELECT job, state, choice FROM pigeonhole.inbox_job
     WHERE job > :afterSeq AND job <= :throughSeq ORDER BY job LIMIT ${ERASED_ROWS}`,
    range,
  );
  const counts: Partial<EraseCounts>[] = [];
  for (const { job, ...stored } of rows) {
    const { choice, ...erased } = eraseJob(stored);
    counts.push(erased.counts);
    if (dryRun || choice === undefined) continue;
    yield* run("UPDATE pigeonhole.inbox_job SET choice = :choice WHERE job = :job", { job, choice });
  }
  return { counts, lastSeq: rows.at(-1)?.job };
}

type StoredJob = Pick<JobRow, "state" | "choice">;

/**
 * Erases the text in errors by which a person chose the work of a job, whatever address is looked for: it is typed by
 * hand, and may have a part of an address, or another name of the person. Where an open job still chooses by it, it
 * stays. Ids stay too, as those of events do. Returns what is left of the choice, unless it stays as it is.
 */
function eraseJob({ state, choice }: StoredJob): { counts: Partial<EraseCounts>; choice?: string } {
  const stored = JSON.parse(choice) as JobChoice;
  if (stored.error === undefined || stored.error === ERASED_TEXT) return { counts: {} };
  if (state === "open") return { counts: { jobsLeft: 1 } };
  return { counts: { jobs: 1 }, choice: JSON.stringify({ ...stored, error: ERASED_TEXT }) };
}

/** A contact event, and the call that it is part of. */
interface StoredContactEvent {
  seq: number;
  body: string;
  state: "pending" | "leased" | "done" | "dead";
  send: number | null;
  /** What the service said about it, and about its call. */
  param: string | null;
  message: string | null;
  callError: string | null;
  callState: "pending" | "leased" | "dead" | null;
}

const SELECT_CONTACT_EVENTS = `
  SELECT e.seq, e.body, e.state, e.send, e.param, e.message, s.error AS "callError", s.state AS "callState"
  FROM pigeonhole.outbox_event AS e LEFT JOIN pigeonhole.outbox_send AS s ON s.send = e.send`;

const isMentionedIn = ({ body, param, message, callError }: StoredContactEvent, mentions: MentionsEmail): boolean =>
  [body, param, message, callError].some((text) => text !== null && mentions(text));

/** A contact event keeps its key and its name. Members of a call keep all, since it is only repeated as it was. */
function* eraseContactEvents(range: EraseRange, task: EraseTask): StoreQuery<ErasedRows> {
  const rows = yield* readRows<StoredContactEvent>(
    `${SELECT_CONTACT_EVENTS} WHERE e.seq > :afterSeq AND e.seq <= :throughSeq ORDER BY e.seq LIMIT ${ERASED_ROWS} FOR UPDATE OF e`,
    range,
  );
  const counts: Partial<EraseCounts>[] = [];
  for (const { seq } of rows.filter((row) => isMentionedIn(row, task.mentions))) {
    // An earlier row of the page may have ended its call.
    const row = yield* readFirst<StoredContactEvent>(`${SELECT_CONTACT_EVENTS} WHERE e.seq = :seq`, { seq });
    if (row !== undefined) counts.push(yield* eraseContactEventRow(row, task));
  }
  return { counts, lastSeq: rows.at(-1)?.seq };
}

function* eraseContactEventRow(
  row: StoredContactEvent,
  { mentions, now, dryRun }: EraseTask,
): StoreQuery<Partial<EraseCounts>> {
  const { isLeft, ending } = yield* findEnding(row, mentions);
  if (!dryRun) for (const { seq, send } of ending) yield* discardContactEvent({ seq, send, now });
  if (isLeft) return { contactEventsLeft: 1 };
  const isSent = row.state === "done" && row.message !== "discarded";
  if (!dryRun) {
    yield* run(
      `UPDATE pigeonhole.outbox_event SET name = :name, body = :body, param = NULL, message = :message
       WHERE seq = :seq`,
      { seq: row.seq, ...eraseContactEvent(row.body, mentions), message: isSent ? null : "discarded" },
    );
  }
  return { contactEvents: 1 };
}

/** The event and those that end with it: a call that was given up is over once nothing of it can be sent again. */
function* findEnding(
  row: StoredContactEvent,
  mentions: MentionsEmail,
): StoreQuery<{ isLeft: boolean; ending: readonly StoredContactEvent[] }> {
  const own = row.state === "done" || row.state === "leased" ? [] : [row];
  if (row.send === null) return { isLeft: false, ending: own };
  if (row.callState !== "dead") return { isLeft: true, ending: [] };
  const ofCall = `${SELECT_CONTACT_EVENTS} WHERE e.send = :send AND e.state = 'dead'`;
  const dead = yield* readRows<StoredContactEvent>(ofCall, { send: row.send });
  const isLeft = !dead.every((member) => isMentionedIn(member, mentions));
  return { isLeft, ending: isLeft ? own : dead };
}
