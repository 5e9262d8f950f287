import { DAY, SECOND } from "#pigeonhole/base/duration.js";
import type { PruneLimits } from "#pigeonhole/store/store.js";
import type { Lease, Settlement } from "#pigeonhole/store/work.js";
import type { Life } from "./life.js";
import type { StoreFault } from "./plan.js";

/** Retention as the documents promise it. */
const KEPT_MS = 90 * DAY;

/** What is known from outside about a file and all processes that work on it. */
export class SharedFile {
  /** The life that was last told that it runs the handlers. */
  owner: Life | undefined;
  /** What the disk refuses with. */
  fault: StoreFault | undefined;
  /** How long the disk takes for what a delivery writes. */
  slowMs = 0;
  /** Promises that were seen to be broken while the world went on. */
  readonly wrong = new Set<string>();
  /** False when the first time kept in the file was wrong: there is nothing to compare a clock with. */
  #startedRight: boolean | undefined;
  /** The last lease given of each (event, handler). */
  readonly #tokens = new Map<string, number>();
  readonly #running = new Map<string, Life>();
  #meters: { at: number; offset: number }[] = [];
  /** Until when each handler is held, by the clock of the machine. */
  readonly #holds = new Map<string, number>();

  /** A process keeps the time of its clock in the file. */
  keepsTimes(clock: number | undefined, trueMs: number): void {
    if (clock !== undefined) this.#startedRight ??= Math.abs(clock - trueMs) < DAY;
  }

  /**
   * Ids go by the service's time as well, which is never ahead. A clock that moved by less than a day is taken at its
   * word for bodies, which cannot make an event take effect twice.
   */
  prunes({ idsBefore, bodiesBefore, sentBefore }: PruneLimits, trueMs: number): void {
    if (this.#startedRight !== true) return;
    const keptSince = trueMs - KEPT_MS;
    if (idsBefore > keptSince) this.wrong.add("dropped an id too early");
    if (sentBefore > keptSince) this.wrong.add("dropped a contact event that was sent too early");
    if (bodiesBefore > keptSince + DAY) this.wrong.add("dropped a body too early");
  }

  /** Work was leased at a time of the machine. */
  leased({ seq, handler, token }: Lease, now: number): void {
    this.#tokens.set(`${seq} ${handler}`, token);
    if (now < (this.#holds.get(handler) ?? 0)) this.wrong.add(`leased while its handler is held: ${seq} ${handler}`);
  }

  /** Waits have a new end. */
  restartsWaits(): void {
    this.#holds.clear();
  }

  /** A settlement was taken; its lease must be the last one given. */
  settled(settlement: Settlement): void {
    const { seq, handler, token } = settlement;
    if (settlement.to === "pending" && settlement.wait?.holds === "handler") {
      this.#holds.set(handler, Math.max(settlement.dueAt, this.#holds.get(handler) ?? 0));
    }
    const last = this.#tokens.get(`${seq} ${handler}`);
    if (last !== undefined && last !== token)
      this.wrong.add(`settled under a lease that another had: ${seq} ${handler}`);
  }

  /** A run begins of which there may be only so many in a second; counted while the clock of the machine is not set. */
  meters({ clock }: Life, most: number): void {
    const [now, offset] = [clock.elapsed(), clock.now() - clock.elapsed()];
    const isSame = this.#meters.every((run) => run.offset === offset);
    this.#meters = [...(isSame ? this.#meters.filter(({ at }) => at > now - SECOND) : []), { at: now, offset }];
    if (this.#meters.length > most) this.wrong.add(`more than ${most} runs in a second`);
  }

  /** Something runs that must run once at a time; gives the function that ends it. */
  begin(what: string, life: Life): () => void {
    const other = this.#running.get(what);
    const isKnown = other?.isAlive === true && !other.hasLostLock && life.isAlive && !life.hasLostLock;
    if (isKnown) this.wrong.add(`twice at once: ${what}`);
    this.#running.set(what, life);
    return () => {
      if (this.#running.get(what) === life) this.#running.delete(what);
    };
  }
}
