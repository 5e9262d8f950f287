import type { Clock } from "../base/clock.js";
import { HOUR, SECOND } from "../base/duration.js";
import { setNewest } from "../base/set-newest.js";
import { type AttemptsReading, findEventAttempts } from "../receiver/event-attempts.js";
import type { ReceiverParts } from "../receiver/receiver-parts.js";
import { SideBySide } from "../web/side-by-side.js";

/** What is known of the attempts; `busy`: too many readings wait. */
export type LogAnswer = AttemptsReading | { kind: "busy" };

/** What a reading is for. */
export interface LoggedEvent {
  /** The envelope's `id`. */
  eventId: string;
  /** In milliseconds since 1970. */
  receivedAt: number;
}

interface KeptAttempts {
  reading: Promise<AttemptsReading>;
  /** Undefined while it runs. */
  endedAt: number | undefined;
}

/** Longest reading of one event. */
const TIME_OUT_MS = 10 * SECOND;
/** How long a reading is good for others who look at the event. */
const KEEP_MS = 15 * SECOND;
const MAX_KEPT = 100;
/** Readings that run or wait. */
const MAX_WAITING = 5;
/** What fails for one event fails for the next one. */
const PAUSE_MS = 5 * SECOND;
const MAX_PAUSE_MS = HOUR;
const TOO_MANY = new Error("too many readings");

/**
 * The service's delivery log, read for the people who look at events: one request at a time, however many look, and
 * none for a while after one has failed.
 */
export class DeliveryLog {
  readonly #client: NonNullable<ReceiverParts["options"]["api"]>;
  readonly #clock: Clock;
  readonly #turns = new InTurn(MAX_WAITING, () => TOO_MANY);
  readonly #kept = new Map<string, KeptAttempts>();
  #failed: { reading: AttemptsReading; from: number; until: number } | undefined;

  constructor(client: NonNullable<ReceiverParts["options"]["api"]>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async attemptsOf(event: LoggedEvent): Promise<LogAnswer> {
    try {
      return await this.#reading(event);
    } catch (error) {
      if (error === TOO_MANY) return { kind: "busy" };
      throw error;
    }
  }

  #reading(event: LoggedEvent): Promise<AttemptsReading> {
    const { eventId } = event;
    const known = this.#kept.get(eventId);
    if (known !== undefined && this.#isGood(known.endedAt)) return known.reading;
    const kept: KeptAttempts = { reading: this.#turns.run(() => this.#read(event)), endedAt: undefined };
    setNewest(this.#kept, eventId, kept, MAX_KEPT);
    const forget = (): void => void (this.#kept.get(eventId) === kept && this.#kept.delete(eventId));
    kept.reading.then((reading) => {
      kept.endedAt = this.#clock.now();
      if (reading.kind === "unread") forget();
    }, forget);
    return kept.reading;
  }

  /** One that still runs is good. */
  #isGood(endedAt: number | undefined): boolean {
    if (endedAt === undefined) return true;
    const age = this.#clock.now() - endedAt;
    return age >= 0 && age < KEEP_MS;
  }

  async #read({ eventId, receivedAt }: LoggedEvent): Promise<AttemptsReading> {
    const now = this.#clock.now();
    if (this.#failed !== undefined && now >= this.#failed.from && now < this.#failed.until) return this.#failed.reading;
    const controller = new AbortController();
    const timer = this.#clock.setTimer(() => controller.abort(), TIME_OUT_MS);
    const request = { client: this.#client, eventId, receivedAt, now, signal: controller.signal };
    const reading = await findEventAttempts(request).finally(() => timer.cancel());
    this.#failed = undefined;
    if (reading.kind === "unread") {
      const from = this.#clock.now();
      const pauseMs = Math.min(Math.max(reading.retryAfterMs ?? 0, PAUSE_MS), MAX_PAUSE_MS);
      this.#failed = { reading, from, until: from + pauseMs };
    }
    return reading;
  }
}

/** Runs one call after the other; `run` rejects with what `refuse` makes while too many wait. */
export class InTurn {
  readonly #places: SideBySide;
  #last: Promise<unknown> = Promise.resolve();

  constructor(most: number, refuse: () => Error) {
    this.#places = new SideBySide(most, refuse);
  }

  run<Value>(call: () => Promise<Value>): Promise<Value> {
    return this.#places.run(() => {
      const result = this.#last.then(call);
      this.#last = result.catch(() => undefined);
      return result;
    });
  }
}
