import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";

/** Even if nothing is said to have changed, what was read is not kept for longer. */
const UNCHANGED_FOR_MS = 10 * SECOND;

/** What was read, and when the reading began, in milliseconds since 1970. */
export interface KeptReading<Value> {
  value: Value;
  at: number;
}

/** How long a reading answers those who ask after it. All who ask while it is made get it. */
export interface KeepRule {
  /** How long a reading is kept that took so long, both in milliseconds, from when it began. */
  keptFor: (tookMs: number) => number;
  /** What the store has told of its state: while this is the same, the reading is kept for 10 s. @default nothing */
  mark?: string;
}

interface Entry {
  reading: Promise<KeptReading<unknown>>;
  begunAt: number;
  /** Infinite while it is being read. */
  keptMs: number;
  mark: string | undefined;
}

/** Shares readings, so that fifty pages cost as much as one. */
export class KeptReadings {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `key`: what is read. Rejects as `read` does, and then nothing is kept. */
  read<Value>(key: string, read: () => Promise<Value>, { keptFor, mark }: KeepRule): Promise<KeptReading<Value>> {
    const begunAt = elapsedBy(this.#clock);
    const kept = this.#entries.get(key);
    // What a key is of is always of one type.
    if (kept !== undefined && isGood(kept, begunAt, mark)) return kept.reading as Promise<KeptReading<Value>>;
    this.#dropOld(begunAt);
    const at = this.#clock.now();
    const reading = read().then((value) => ({ value, at }));
    const entry: Entry = { reading, begunAt, keptMs: Number.POSITIVE_INFINITY, mark };
    this.#entries.set(key, entry);
    reading.then(
      () => (entry.keptMs = keptFor(elapsedBy(this.#clock) - begunAt)),
      // A store that fails is not shown as it was.
      () => this.forgetAll(),
    );
    return reading;
  }

  /** What is asked for from now on is read again. */
  forgetAll(): void {
    this.#entries.clear();
  }

  #dropOld(elapsed: number): void {
    for (const [key, entry] of this.#entries) if (!isGood(entry, elapsed, entry.mark)) this.#entries.delete(key);
  }
}

/** A clock that only knows the time of day may go back. */
function isGood(entry: Entry, elapsed: number, mark: string | undefined): boolean {
  const ageMs = elapsed - entry.begunAt;
  if (ageMs < 0) return false;
  const isUnchanged = mark !== undefined && mark === entry.mark && ageMs < UNCHANGED_FOR_MS;
  return isUnchanged || ageMs < entry.keptMs;
}
