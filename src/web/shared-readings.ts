import { type Clock, elapsedBy } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import type { InboxOperator } from "../store/inbox-operator.js";

/** What pages read again and again. */
type SharedMethod =
  | "overview"
  | "readStatuses"
  | "listHandlers"
  | "listJobs"
  | "readFigures"
  | "handlerTimes"
  | "listErrorGroups"
  | "listEvents"
  | "listContactEvents";

/** How long a reading is kept that took so long, both in milliseconds, from when it began. */
type KeepRule = (tookMs: number) => number;

/** What is not bounded takes at most one part in so many of a core. */
const KEPT_TIMES = 50;

/** All who ask within a second get the same; pages ask once a second. */
const ONCE_A_SECOND: KeepRule = () => 0.9 * SECOND;

/** A large backlog is counted less often. */
const AS_IT_TAKES: KeepRule = (tookMs) => Math.max(0.9 * SECOND, KEPT_TIMES * tookMs);

/** A list that takes less may be read at once again. */
const SHORT_LIST_MS = 20;
/** A list is not older, and pages load it again after as much. */
const MAX_LIST_AGE_MS = 5 * SECOND;

const AS_A_LIST: KeepRule = (tookMs) => (tookMs < SHORT_LIST_MS ? 0 : Math.min(MAX_LIST_AGE_MS, KEPT_TIMES * tookMs));

/** A reading, and when it began, in milliseconds since 1970. */
interface KeptReading<Value> {
  value: Value;
  at: number;
}

interface Entry {
  reading: Promise<KeptReading<unknown>>;
  begunAt: number;
  /** Infinite while it is being read: all who ask meanwhile get it. */
  keptMs: number;
}

/** Of an operator's view, what all pages of a process read together: fifty cost as much as one. Rejects as it does. */
export class SharedReadings implements Pick<InboxOperator, SharedMethod> {
  readonly overview = this.#shared("overview", AS_IT_TAKES);
  readonly readStatuses = this.#shared("readStatuses", ONCE_A_SECOND);
  readonly listHandlers = this.#shared("listHandlers", ONCE_A_SECOND);
  readonly listJobs = this.#shared("listJobs", ONCE_A_SECOND);
  readonly readFigures = this.#shared("readFigures", AS_IT_TAKES);
  readonly handlerTimes = this.#shared("handlerTimes", AS_IT_TAKES);
  readonly listErrorGroups = this.#shared("listErrorGroups", AS_A_LIST);
  readonly listEvents = this.#shared("listEvents", AS_A_LIST);
  readonly listContactEvents = this.#shared("listContactEvents", AS_A_LIST);
  readonly #operator: () => InboxOperator;
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(operator: () => InboxOperator, clock: Clock) {
    this.#operator = operator;
    this.#clock = clock;
  }

  /** The overview, with when it was counted. */
  count(): Promise<KeptReading<Awaited<ReturnType<InboxOperator["overview"]>>>> {
    return this.#read("overview", [], AS_IT_TAKES);
  }

  /** Something was changed here: the person who did it sees it at once. */
  forgetAll(): void {
    this.#entries.clear();
  }

  #shared<Method extends SharedMethod>(method: Method, rule: KeepRule): InboxOperator[Method] {
    const read = async (...query: unknown[]): Promise<unknown> => (await this.#read(method, query, rule)).value;
    return read as InboxOperator[Method];
  }

  async #read<Value>(method: SharedMethod, query: readonly unknown[], rule: KeepRule): Promise<KeptReading<Value>> {
    // Throws at once when the receiver has stopped, whatever is kept.
    const inbox = this.#operator();
    const key = `${method} ${JSON.stringify(query)}`;
    const begunAt = elapsedBy(this.#clock);
    for (const [old, entry] of this.#entries) if (!isGood(entry, begunAt)) this.#entries.delete(old);
    const kept = this.#entries.get(key);
    // What a key is of is always of one type.
    if (kept !== undefined) return kept.reading as Promise<KeptReading<Value>>;
    const at = this.#clock.now();
    const call = inbox[method].bind(inbox) as (...query: readonly unknown[]) => Promise<Value>;
    const reading = call(...query).then((value) => ({ value, at }));
    const entry: Entry = { reading, begunAt, keptMs: Number.POSITIVE_INFINITY };
    this.#entries.set(key, entry);
    reading.then(
      () => (entry.keptMs = rule(elapsedBy(this.#clock) - begunAt)),
      // A store that fails is not shown as it was.
      () => this.forgetAll(),
    );
    return reading;
  }
}

/** A clock that only knows the time of day may go back. */
function isGood({ begunAt, keptMs }: Entry, elapsed: number): boolean {
  const ageMs = elapsed - begunAt;
  return ageMs >= 0 && ageMs < keptMs;
}
