import { readDuration } from "../../base/duration.js";
import { isTestDelivery } from "../../protocol/test-delivery.js";
import { outcomeOf } from "../model/answer.js";
import { CAPTURE_SOURCES, type Capture, VERDICT_CODES } from "../model/capture.js";
import { isNamed } from "../model/capture-handle.js";
import { bodyData, bodyJson, bodyText } from "../model/captured-body.js";
import { valuesAt } from "../json/json-path.js";
import { findSubject } from "../model/summarize-capture.js";
import type { QueryFieldName } from "./query-field-names.js";

/* Without node: imports, since the page uses it too. */

/** Whether a capture matches a term. */
export type Matcher = (capture: Capture, nowMs: number) => boolean;

export type ReadMatcher = { ok: true; matches: Matcher } | { ok: false; problem: string };

/** A field of the search language, for help and completion. */
export interface QueryField {
  /** What it matches, in a few words. */
  meaning: string;
  /** Allowed values after the colon, if they are a closed list. */
  values?: readonly string[];
  /** A whole term, such as `type:email.*`. */
  example: string;
}

/** Its `example` is the value alone. The list of fields puts the name before it. */
interface Field extends QueryField {
  /** Undefined for a value that is not allowed. */
  read(value: string): Matcher | undefined;
  /** What is allowed, for the error. */
  allowed: string;
}

const flags: Record<string, Matcher> = {
  replay: (capture) => capture.attempts.at(-1)?.kind === "replay",
  pinned: ({ pinned }) => pinned,
  redacted: ({ redaction }) => redaction !== null,
  duplicate: ({ attempts }) => outcomeOf(attempts.at(-1)?.headers ?? []) === "duplicate",
  test: ({ event, request }) => isTestDelivery(event.type, bodyData(request.body)),
};

const parts: Record<string, Matcher> = {
  error: ({ attempts }) => typeof attempts.at(-1)?.error === "string",
  answer: ({ attempts }) => typeof attempts.at(-1)?.status === "number",
  attempts: ({ attempts }) => attempts.length > 0,
  note: ({ note }) => note !== "",
  tag: ({ tags }) => tags.length > 0,
  expect: ({ expect }) => expect !== undefined,
};

const verdicts = [...VERDICT_CODES, "bad"];

/**
 * The fields of the search language. `header.<name>` and `data.<path>` stand for any header and any field of `data`.
 */
export const QUERY_FIELDS: Readonly<Record<string, QueryField>> = {};

const FIELDS: Readonly<Record<QueryFieldName, Field>> = {
  type: {
    meaning: "event type, * for any part",
    example: "email.*",
    allowed: "an event type such as email.received or email.*",
    read: (value) =>
      anyOf(
        value,
        (one) => glob(one),
        ({ event }) => event.type ?? "",
      ),
  },
  status: {
    meaning: "status of the last answer",
    example: "5xx",
    allowed: "a status such as 200, 5xx or none",
    read: readStatus,
  },
  outcome: {
    meaning: "what a receiver of this package made of it, by any of its answers",
    example: "parked",
    allowed: "an outcome such as accepted, duplicate or parked",
    // A parked event that was replayed is answered as a duplicate, and is still parked.
    read: (value) => {
      const matchers = value.split(",").map(glob);
      return (capture) => outcomesOf(capture).some((outcome) => matchers.some((matches) => matches(outcome)));
    },
  },
  verdict: closed("result of the signature check; bad is all but ok", verdicts, (value) =>
    value === "bad" ? ({ verify }) => verify.code !== "ok" : ({ verify }) => verify.code === value,
  ),
  is: closed("a property", Object.keys(flags), (value) => flags[value]),
  has: closed("a property that the capture has", Object.keys(parts), (value) => parts[value]),
  source: closed("where it came from", CAPTURE_SOURCES, (value) => (capture) => capture.source === value),
  tag: {
    meaning: "a tag, * for any part",
    example: "vip",
    allowed: "a tag",
    read: (value) => {
      const matches = glob(value);
      return ({ tags }) => tags.some(matches);
    },
  },
  after: { ...timeField("received since"), read: (value) => readTime(value, (received, at) => received >= at) },
  before: { ...timeField("received before"), read: (value) => readTime(value, (received, at) => received < at) },
  id: {
    meaning: "short name, id of the capture or its event, or the beginning of an id",
    example: "cap_01",
    allowed: "an id, its beginning or a short name",
    read: (value) => (capture) => isNamed(capture, value),
  },
};
for (const [name, { meaning, example, values }] of Object.entries(FIELDS)) {
  Object.assign(QUERY_FIELDS, { [name]: { meaning, example: `${name}:${example}`, ...(values && { values }) } });
}
Object.assign(QUERY_FIELDS, {
  "header.<name>": { meaning: "a request header that contains the text", example: "header.user-agent:curl" },
  "data.<path>": { meaning: "a field of data, * for any part", example: "data.contact.email:a@b.c" },
});

function isFieldName(name: string): name is QueryFieldName {
  return Object.hasOwn(FIELDS, name);
}

/** The matcher of a term, or what is wrong with it. */
export function readMatcher(name: string | null, value: string): ReadMatcher {
  if (name === null) return { ok: true, matches: anywhere(value) };
  if (/^header\../.test(name)) return { ok: true, matches: header(name.slice("header.".length), value) };
  if (/^data\../.test(name)) return { ok: true, matches: data(name, value) };
  const field = isFieldName(name) ? FIELDS[name] : undefined;
  if (field === undefined) {
    const known = Object.keys(QUERY_FIELDS).join(", ");
    return { ok: false, problem: `names no field; there are ${known}; put it in quotes to look for the text` };
  }
  const matches = field.read(value);
  return matches === undefined ? { ok: false, problem: `needs ${field.allowed}` } : { ok: true, matches };
}

function closed(meaning: string, values: readonly string[], find: (value: string) => Matcher | undefined): Field {
  const allowed = `one of ${values.join(", ")}`;
  const read = (text: string): Matcher | undefined => {
    const found = text.split(",").map((value) => (values.includes(value) ? find(value) : undefined));
    const matchers = found.filter((matcher) => matcher !== undefined);
    if (matchers.length < found.length) return undefined;
    return (capture, nowMs) => matchers.some((matches) => matches(capture, nowMs));
  };
  const [first = ""] = values;
  return { meaning, values, example: first, allowed, read };
}

function timeField(meaning: string): Omit<Field, "read"> {
  return { meaning, example: "10m", allowed: "a time ago such as 10m, 2h or 7d, or an ISO date such as 2026-01-31" };
}

function anyOf(
  text: string,
  make: (value: string) => (value: string) => boolean,
  get: (c: Capture) => string,
): Matcher {
  const matchers = text.split(",").map(make);
  return (capture) => matchers.some((matches) => matches(get(capture)));
}

function readStatus(text: string): Matcher | undefined {
  const wanted = text.toLowerCase().split(",");
  if (!wanted.every((value) => /^(?:none|[1-5]xx|\d{3})$/.test(value))) return undefined;
  return ({ attempts }) => {
    const status = attempts.at(-1)?.status;
    if (status === undefined) return false;
    const words = status === null ? ["none"] : [String(status), `${Math.floor(status / 100)}xx`];
    return words.some((word) => wanted.includes(word));
  };
}

function readTime(text: string, compare: (received: number, at: number) => boolean): Matcher | undefined {
  if (/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(text)) {
    const ago = readDuration(text);
    return ({ receivedAt }, nowMs) => compare(Date.parse(receivedAt), nowMs - ago);
  }
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : ({ receivedAt }) => compare(Date.parse(receivedAt), at);
}

function header(name: string, value: string): Matcher {
  const matches = glob(value.includes("*") ? value : `*${value}*`);
  const key = name.toLowerCase();
  return ({ request }) => request.headers.some(([each, content]) => each.toLowerCase() === key && matches(content));
}

function data(path: string, value: string): Matcher {
  const matches = glob(value);
  const keys = path.split(".");
  return (capture) => valuesAt(parsedBody(capture), keys).some((found) => matches(String(found)));
}

function anywhere(text: string): Matcher {
  const wanted = text.toLowerCase();
  return (capture) => haystack(capture).includes(wanted);
}

/** The text in which free text is searched. Built for each search: keeping it would double the memory of a capture. */
function haystack(capture: Capture): string {
  const { id, event, request, note, tags } = capture;
  const texts = [id, event.id, event.type, request.path, note, ...tags, findSubject(capture), bodyText(request.body)];
  return texts.join("\n").toLowerCase();
}

function parsedBody({ request }: Capture): unknown {
  const json = bodyJson(request.body);
  return json.ok ? json.value : undefined;
}

/** Of every attempt; one empty text for a capture without any, as for an answer that names none. */
function outcomesOf({ attempts }: Capture): string[] {
  return attempts.length === 0 ? [""] : attempts.map(({ headers }) => outcomeOf(headers) ?? "");
}

/** Whole values, any case, `*` for any part. */
function glob(pattern: string): (value: string) => boolean {
  const parts = pattern.toLowerCase().split("*");
  if (parts.length === 1) return (value) => value.toLowerCase() === parts[0];
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  const middle = parts.slice(1, -1);
  // Written by hand, since a pattern with many stars makes a regular expression slow.
  return (value) => {
    const text = value.toLowerCase();
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    const end = text.length - last.length;
    for (const part of middle) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}
