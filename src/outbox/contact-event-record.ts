import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, given } from "../base/options.js";
import { type ContactEventInput, checkContactEvent } from "../contract/contact-event.js";
import { InvalidInputError } from "../contract/invalid-input-error.js";
import type { ComparableOutboxEvent } from "../store/outbox.js";
import type { TraceContext } from "../store/trace-context.js";
import { isSameContactEvent } from "../store/same-contact-event.js";
import { type KeyOwner, deriveIdempotencyKey } from "./idempotency-key.js";

/** How a contact event is recorded. */
export interface RecordOptions {
  /**
   * Tells this record apart from others of the same handler and event; the same key with another event is an error.
   * @default the event's name and contact
   */
  key?: string | undefined;
}

/** The names of {@link RecordOptions}. */
export const RECORD_OPTIONS = defineOptions("contactEvents.record", {
  key: given(),
} satisfies OptionsOf<RecordOptions>);

/** The key that a caller gives to a contact event, if any. A misspelt one would let two events be one. */
export function readRecordKey(options: RecordOptions | undefined): string | undefined {
  if (options === undefined) return undefined;
  RECORD_OPTIONS.checkNames(options);
  return options.key;
}

/** Records contact events, which are sent later, exactly once. */
export interface ContactEventRecorder {
  /**
   * Records a contact event; it is stored in one transaction with the done mark of this handler, or not at all. Throws
   * InvalidInputError with the service's code and param, `key_conflict` or, when the run is over, `run_ended`. What is
   * recorded inside `ctx.step` is kept with the step, so that a later attempt, which skips it, records it as well.
   */
  record(event: ContactEventInput, options?: RecordOptions): void;
}

/** The error of everything that needs the API. */
export function apiNotConfigured(): PigeonholeError {
  return new PigeonholeError(
    "api_not_configured",
    "ctx.api and contact events need the option api: { apiKey, baseUrl } of createReceiver.",
  );
}

/** Who records a contact event, when, and in which span. */
interface RecordCircumstances {
  owner: KeyOwner;
  label: string | undefined;
  nowMs: number;
  defaultMs: number;
  trace: TraceContext | undefined;
}

/**
 * Validates an event, fixes its time (`defaultMs`, where it has none) and derives its idempotency key. Throws
 * InvalidInputError, or `invalid_argument` for a label that is not a string.
 */
export function toOutboxEvent(
  event: ContactEventInput,
  { owner, label, nowMs, defaultMs, trace }: RecordCircumstances,
): ComparableOutboxEvent {
  // A null, from a caller without types, would count as no key, and the second of two events as the first.
  if (label !== undefined && typeof label !== "string") {
    throw new PigeonholeError(
      "invalid_argument",
      `The key of a contact event must be a string, got ${label === null ? "null" : typeof label}.`,
    );
  }
  const checked = checkContactEvent(event, nowMs);
  if (!checked.ok) throw new InvalidInputError("contactEvents.record", checked.issue);
  const { value } = checked;
  const given = value.occurredAt;
  value.occurredAt ??= isoTime(defaultMs);
  return {
    key: deriveIdempotencyKey(owner, label ?? labelOf(value)),
    body: JSON.stringify(value),
    occurredAt: given === undefined ? defaultMs : Date.parse(given),
    isTimeGiven: given !== undefined,
    trace,
  };
}

/** The default of {@link RecordOptions.key}. */
function labelOf({ name, contactId, email }: ContactEventInput): (string | undefined)[] {
  return [name, contactId ?? email];
}

/** The last time that was formatted: many runs begin in the same millisecond. */
let lastTime = { ms: 0, text: new Date(0).toISOString() };

function isoTime(ms: number): string {
  if (lastTime.ms !== ms) lastTime = { ms, text: new Date(ms).toISOString() };
  return lastTime.text;
}

/** The records of one run. */
export class RunRecords {
  readonly #byKey = new Map<string, ComparableOutboxEvent>();

  /** Throws `key_conflict` when the key stands for another event of this run. */
  add(event: ComparableOutboxEvent): void {
    const known = this.#byKey.get(event.key);
    if (known === undefined) this.#byKey.set(event.key, event);
    else if (!isSameContactEvent(event, known.body)) {
      throw new PigeonholeError(
        "key_conflict",
        "Two different contact events of one handler have the same key. Give each its own: record(event, { key: … }).",
      );
    }
  }

  /** What was recorded so far, in that order. */
  get all(): readonly ComparableOutboxEvent[] {
    return [...this.#byKey.values()];
  }
}
