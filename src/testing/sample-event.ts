import { createHash } from "node:crypto";
import { SECOND } from "../base/duration.js";
import type { EventType } from "../protocol/event-types.js";
import { SAMPLE_DATA, type MakeId, type SampleData } from "./sample-data.js";

/** An event as the service would sign it. */
export interface SampleEvent<T extends EventType, Data extends object = SampleData[T]> {
  id: string;
  type: T;
  /** ISO 8601. */
  createdAt: string;
  data: Data;
}

export interface SampleOptions {
  /**
   * Decides all identifiers. Samples of one seed and type have the same event id, so the second is a duplicate; samples
   * of one seed and different types are about the same message, file or form.
   *
   * @default a number that goes up with every sample of the process
   */
  seed?: string | number;
  /** @default "evt_" and 24 hex digits made from the seed */
  id?: string;
  /** @default 2026-01-01T09:00:00Z, a second later with every sample that has no seed */
  createdAt?: Date;
}

/** The second object's fields in place of the first one's. */
type Merged<Base, Over> = Omit<Base, keyof Over> & Over;

const firstCreatedAt = Date.UTC(2026, 0, 1, 9);
let samples = 0;

/**
 * An event to build and test handlers against, the same in every run.
 *
 * The envelope (`id`, `type`, `createdAt`, `data`) is documented; **the fields of `data` are assumed**, as the documents
 * show none (seeds part 1 §6.6). Compare them with a captured delivery before relying on one.
 *
 * @param data Replaces fields of the sample's `data`, one level deep.
 */
export function sampleEvent<T extends EventType, Over extends object = object>(
  type: T,
  data?: Over,
  options?: SampleOptions,
): SampleEvent<T, Merged<SampleData[T], Over>>;
export function sampleEvent(
  type: EventType,
  data: object = {},
  options: SampleOptions = {},
): SampleEvent<EventType, object> {
  const { makeId, ...envelope } = nextEnvelope(type, options);
  return { ...envelope, type, data: { ...SAMPLE_DATA[type](makeId), ...data } };
}

/**
 * What the service sends when its endpoint test is run: an `email.sent` whose data has `test: true` and a note
 * (seeds part 1 §4.3 rule 7). The note's name and wording are assumed, and that the usual fields are missing.
 */
export function sampleTestEvent(options: SampleOptions = {}): SampleEvent<"email.sent", { test: true; note: string }> {
  const { makeId: _, ...envelope } = nextEnvelope("test", options);
  return { ...envelope, type: "email.sent", data: { test: true, note: "A test event. No email was sent." } };
}

function nextEnvelope(label: string, options: SampleOptions): { id: string; createdAt: string; makeId: MakeId } {
  if (options.seed === undefined) samples += 1;
  const seed = options.seed === undefined ? `sample ${samples}` : `seed ${options.seed}`;
  const seconds = options.seed === undefined ? samples - 1 : 0;
  const makeId: MakeId = (name) => createHash("sha256").update(`${seed}\0${name}`).digest("hex").slice(0, 24);
  const createdAt = options.createdAt ?? new Date(firstCreatedAt + seconds * SECOND);
  return { id: options.id ?? `evt_${makeId(label)}`, createdAt: createdAt.toISOString(), makeId };
}
