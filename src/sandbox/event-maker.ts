import type { Clock } from "../base/clock.js";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, given } from "../base/options.js";
import { type EventType, isEventType } from "../protocol/event-types.js";
import { isoNow } from "./clock/sandbox-time.js";
import type { SandboxEvent } from "./delivery/scheduled-delivery.js";
import { addressesOf } from "./endpoints/endpoint.js";
import { sampleOfWorkspace, sampleTestEvent } from "./samples/sample-event.js";
import type { EmitOptions } from "./control/sandbox.js";
import type { ResolvedSandboxOptions } from "./options.js";

/** The names of {@link EmitOptions}; the values are checked where the event is made. */
export const EMIT_OPTIONS = defineOptions("sandbox.emit", {
  address: given(),
  id: given(),
  story: given(),
} satisfies OptionsOf<EmitOptions>);

/** What the events of a sandbox depend on: its clock, and some of its options. */
interface MakerInput extends Pick<ResolvedSandboxOptions, "seed" | "newEventTypes" | "addresses"> {
  clock: Clock;
}

/** Makes the events of one sandbox, each with its own id. */
export class EventMaker {
  readonly #from: MakerInput;
  #made = 0;

  constructor(from: MakerInput) {
    this.#from = from;
  }

  /** An event of sample data; throws `invalid_argument` for a type that the service does not have. */
  make(type: string, over: object, options: EmitOptions): SandboxEvent {
    checkEmitOptions(options);
    const own = this.#nextSeed();
    const createdAt = new Date(this.#from.clock.now());
    const story = options.story === undefined ? own : `${this.#from.seed} story ${options.story}`;
    const sample = isEventType(type)
      ? sampleOfWorkspace(type, over, { seed: story, createdAt }, this.#from.addresses).data
      : this.#dataOfNewType(type, over);
    const data = sample as Readonly<Record<string, unknown>>;
    return {
      // The sample's own id would be the same for two events of one type and story.
      id: options.id ?? idOf(own),
      type,
      createdAt: createdAt.toISOString(),
      data,
      addresses: options.address === undefined ? addressesOf(type, data) : [options.address].flat(),
    };
  }

  /** An event with this data and nothing of a sample's, as what a call of the API did. */
  makeOf(type: EventType, data: Readonly<Record<string, unknown>>): SandboxEvent {
    const createdAt = isoNow(this.#from.clock);
    return { id: idOf(this.#nextSeed()), type, createdAt, data, addresses: addressesOf(type, data) };
  }

  /** The event that a test of an endpoint sends. See docs/service.md#test-deliveries. */
  makeTest(): SandboxEvent {
    const createdAt = new Date(this.#from.clock.now());
    return { ...sampleTestEvent({ seed: this.#nextSeed(), createdAt }), addresses: [] };
  }

  #nextSeed(): string {
    this.#made += 1;
    return `${this.#from.seed} ${this.#made}`;
  }

  #dataOfNewType(type: string, data: object): object {
    if (this.#from.newEventTypes.includes(type)) return data;
    throw new PigeonholeError(
      "invalid_argument",
      `The service has no event type ${JSON.stringify(type)}; EVENT_TYPES lists them, and the option newEventTypes adds some.`,
    );
  }
}

function idOf(seed: string): string {
  return sampleTestEvent({ seed }).id;
}

function checkEmitOptions(options: EmitOptions): void {
  EMIT_OPTIONS.checkNames(options);
  const { id, address } = options;
  if (id !== undefined && (typeof id !== "string" || id === "")) {
    throw new PigeonholeError("invalid_argument", "id must be a string that is not empty.");
  }
  if (address === undefined || [address].flat().every((one) => typeof one === "string")) return;
  throw new PigeonholeError("invalid_argument", "address must be an address, or a list of some.");
}
