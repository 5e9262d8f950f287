import { createHash } from "node:crypto";
import type { Settlement } from "./work.js";
import { CRASH_LIMIT } from "./work-state.js";

/** What is stored of a failure. */
export interface StoredFailure {
  /** True for work that is parked; its reason is the kind then. */
  isParked: boolean;
  reason?: string | null | undefined;
  /** Name and message of what was thrown, or what a parked note leaves open. */
  error?: string | null | undefined;
}

/** What failures of one kind have in common. */
export interface ErrorKind {
  /** Name or code, such as `TypeError` or `unknown_type`. */
  kind: string;
  /** The message, with `…` in place of what differs from event to event. */
  message: string;
}

const MAX_KIND = 80;
const MAX_MESSAGE = 300;
/** So much of an error is looked at. */
const MAX_READ = 1_000;

/** Each is linear in the length of the text. */
const VARIABLE: readonly RegExp[] = [
  // Quoted text; an apostrophe within a word quotes nothing.
  /"[^"]*"|`[^`]*`|„[^“”]*[“”]|“[^”]*”|‘[^’]*’|«[^»]*»|(?<!\w)'[^']*'(?!\w)/g,
  /\bhttps?:\/\/\S+/gi,
  /[^\s<>()@,;:]+@[^\s<>()@,;:]+/g,
  // Addresses of version 6, with a port behind them or not.
  /(?<![\w:])(?=:*[0-9a-f])[0-9a-f]{0,5}(?::[0-9a-f]{0,5}){2,8}(?![\w:])/gi,
  // Words with a digit: numbers, ids, times, hex; and hex of letters only.
  /[\w.+-]*\d[\w.+-]*/g,
  /\b[0-9a-f]{8,}\b/gi,
  /\S{60,}/g,
];

/** Kind and message of a failure, without what differs from one event to the next. */
export function errorKindOf({ isParked, reason, error }: StoredFailure): ErrorKind {
  const text = (error ?? "").slice(0, MAX_READ);
  if (isParked) return { kind: (reason ?? "parked").slice(0, MAX_KIND), message: normalise(text) };
  const [, name, message] = /^([\w$.]{1,80}): ?([^]*)$/.exec(text) ?? [];
  if (name !== undefined && message !== undefined) return { kind: name, message: normalise(message) };
  return { kind: "Error", message: normalise(text) };
}

/** A short digest of the kind of a failure. It says nothing of the texts. */
export function errorKeyOf(failure: StoredFailure): string {
  const { kind, message } = errorKindOf(failure);
  return createHash("sha256").update(`${kind}\n${message}`).digest("hex").slice(0, 16);
}

/** The group of errors of a run; undefined where it has not failed, as one that the receiver's stop ended. */
export function failureGroupOf(settlement: Exclude<Settlement, { to: "done" }>): string | undefined {
  const { to, error, stack } = settlement;
  if (to === "pending") return stack === undefined ? undefined : errorKeyOf({ isParked: false, error });
  return errorKeyOf({ isParked: to === "parked", reason: settlement.reason, error });
}

const CRASHED = {
  reason: "crash_loop",
  error: `The process ended ${CRASH_LIMIT} times while this handler ran on this event.`,
};

/** What work has that is parked at {@link CRASH_LIMIT}. */
export const CRASH_LOOP = { ...CRASHED, errorGroup: errorKeyOf({ isParked: true, ...CRASHED }) };

function normalise(text: string): string {
  const replaced = VARIABLE.reduce((left, pattern) => left.replaceAll(pattern, "…"), text);
  return replaced
    .replaceAll(/…(?:[\s,;:/|-]*…)+/g, "…")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_MESSAGE);
}
