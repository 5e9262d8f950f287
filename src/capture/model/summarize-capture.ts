import { shownAnswer } from "./answer-advice.js";
import type { Capture, CapturedBody, CaptureSummary } from "./capture.js";
import { bodyJson, bodySize } from "./captured-body.js";
import { isRefused, sentEventId, sentEventIds } from "./sent-event-id.js";

/* Without node: imports, since the page uses it too. */

/**
 * Fields of `data` that say what an event is about, the most useful first. Their names are assumed, like all of `data`.
 */
const TELLING = [
  "recipient",
  "email",
  "contact.email",
  "from",
  "from.email",
  "to",
  "domain",
  "filename",
  "name",
  "formName",
  "subject",
  "note",
];
const MAX_SUBJECT_LENGTH = 120;

const NO_ANSWER = { status: null, headers: [] };

/** The row of a capture in a list. */
export function summarizeCapture(capture: Capture): CaptureSummary {
  const last = capture.attempts.at(-1);
  const lastEventId = last !== undefined && isRefused(last) ? null : sentEventId(capture, last);
  return {
    id: capture.id,
    receivedAt: capture.receivedAt,
    source: capture.source,
    verdict: capture.verify.code,
    type: capture.event.type,
    eventId: capture.event.id,
    lastEventId,
    earlierEventIds: sentEventIds(capture).filter((id) => id !== lastEventId),
    subject: findSubject(capture),
    attempts: capture.attempts.length,
    ...shownAnswer(last ?? NO_ANSWER),
    ms: last?.ms ?? null,
    error: last?.error ?? null,
    size: bodySize(capture.request.body),
    tags: capture.tags,
    pinned: capture.pinned,
    replayed: last?.kind === "replay",
    resigned: last?.mode === "resign",
  };
}

/** Cached with the body, which never changes: lists and searches need it for thousands of captures. */
const subjects = new WeakMap<CapturedBody, string>();

/** What the event is about; empty if no such field is found. If there is a subject, the person stands behind it. */
export function findSubject({ request: { body } }: Capture): string {
  const known = subjects.get(body);
  if (known !== undefined) return known;
  const found = readSubject(body);
  subjects.set(body, found);
  return found;
}

function readSubject(body: CapturedBody): string {
  const json = bodyJson(body);
  if (!json.ok) return "";
  const data = fieldOf(json.value, "data");
  const about = TELLING.map((path) => textAt(data, path)).find((text) => text !== undefined);
  const subject = textAt(data, "subject");
  const parts = [subject, about].filter((text, index, all) => text !== undefined && all.indexOf(text) === index);
  const text = parts.join(" · ").replaceAll(/\s+/g, " ");
  // Copied by whole characters, since a slice would keep all of a long text in memory.
  const copy = Array.from(text.slice(0, MAX_SUBJECT_LENGTH)).join("");
  return text.length > MAX_SUBJECT_LENGTH ? `${copy.slice(0, -1)}…` : copy;
}

function textAt(data: unknown, path: string): string | undefined {
  let value = data;
  for (const key of path.split(".")) value = fieldOf(value, key);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first.trim() !== "" ? first : undefined;
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}
