import { SECOND } from "../../base/duration.js";
import { type OptionsOf, defineOptions, given } from "../../base/options.js";
import type { EventType } from "../../protocol/event-types.js";
import { SAMPLE_DATA, type SampleData } from "./sample-data.js";
import { FIRST_SAMPLE_MS, SAMPLE_WORKSPACE_ADDRESSES, type SampleStory, makeStory } from "./sample-story.js";

/** An event as the service would sign it. */
export interface SampleEvent<T extends EventType, Data extends object = SampleData[T]> {
  /** `evt_` and 24 hex digits, or the id that was given. */
  id: string;
  /** The event type; see docs/service.md#event-types. */
  type: T;
  /** When it happened, ISO 8601 in UTC. */
  createdAt: string;
  /** The sample's data with your fields in place of its own. Its fields are assumed: see docs/service.md#event-data. */
  data: Data;
}

/** What a sample event has in place of random values. */
export interface SampleOptions {
  /**
   * Seed of all identifiers, and of the names, addresses and subjects, which come from short lists. Samples with one
   * seed and type have the same event id, so the second is a duplicate. Samples with one seed and different types are
   * about the same message, file or form.
   *
   * @default a number that increases with every sample of the process, and always the same person and order
   */
  seed?: string | number | undefined;
  /** Id of the event. @default "evt_" and 24 hex digits made from the seed */
  id?: string | undefined;
  /** Time of the event. @default 2026-01-01T09:00:00Z, one second later for each sample without a seed */
  createdAt?: Date | undefined;
}

/** The names of {@link SampleOptions}. */
export const SAMPLE_OPTIONS = defineOptions("sampleEvent", {
  seed: given(),
  id: given(),
  createdAt: given(),
} satisfies OptionsOf<SampleOptions>);

/** The fields of both objects; those of the second replace those of the first. */
type Merged<Base, Over> = Omit<Base, keyof Over> & Over;

let samples = 0;

/**
 * An event to build and test handlers against, the same in every run.
 *
 * The envelope (`id`, `type`, `createdAt`, `data`) is documented; **the fields of `data` are assumed**, since the
 * service's documentation shows none (docs/service.md#event-data). Compare them with a captured delivery before relying
 * on one.
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
  return sampleOfWorkspace(type, data, options, SAMPLE_WORKSPACE_ADDRESSES);
}

/** A sample about a workspace with these addresses. */
export function sampleOfWorkspace(
  type: EventType,
  data: object,
  options: SampleOptions,
  workspaceAddresses: readonly string[],
): SampleEvent<EventType, object> {
  const { story, ...envelope } = nextEnvelope(type, options, workspaceAddresses);
  return { ...envelope, type, data: { ...SAMPLE_DATA[type](story), ...data } };
}

/**
 * The event that the service sends for a test of an endpoint: an `email.sent` whose data has `test: true` and a note
 * (docs/service.md#test-deliveries). Assumed: the note's name and wording, and that the usual fields are missing.
 */
export function sampleTestEvent(options: SampleOptions = {}): SampleEvent<"email.sent", { test: true; note: string }> {
  const { story: _, ...envelope } = nextEnvelope("test", options);
  return { ...envelope, type: "email.sent", data: { test: true, note: "A test event. No email was sent." } };
}

function nextEnvelope(
  label: string,
  options: SampleOptions,
  workspaceAddresses: readonly string[] = SAMPLE_WORKSPACE_ADDRESSES,
): { id: string; createdAt: string; story: SampleStory } {
  SAMPLE_OPTIONS.checkNames(options);
  const varied = options.seed !== undefined;
  if (!varied) samples += 1;
  const seed = varied ? `seed ${options.seed}` : `sample ${samples}`;
  const seconds = varied ? 0 : samples - 1;
  const atMs = options.createdAt?.getTime() ?? FIRST_SAMPLE_MS + seconds * SECOND;
  const story = makeStory(seed, { varied, atMs, workspaceAddresses });
  return { id: options.id ?? `evt_${story.id(label)}`, createdAt: story.at(0), story };
}
