import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { NewEvent, Store } from "#pigeonhole/store/store.js";
import type { Lease } from "#pigeonhole/store/work.js";
import { BUILT_MODULES } from "../../simulation/package-copy.js";
import { DAY, MINUTE, newEvent, NOTHING_TO_PRUNE, settlements, T } from "../conformance/new-event.js";
import { leasePage } from "../conformance/lease-page.js";
import { findLayoutFaults } from "./layout-invariants.js";
import { leasedFor, loadLayoutKit, Scene } from "./layout-scene.js";

// Random lives of a file, in which processes die, lose the file and share it. After each step the tables must fit
// together, a lease that holds settles, one that is lost does not, and in the end each piece of work has ended once.

/** LIVES: more of them. */
const LIVES = Number(process.env["LIVES"] ?? 20);

const kit = await loadLayoutKit(BUILT_MODULES);

const PLANS: readonly Partial<NewEvent>[] = [
  leasedFor("h"),
  leasedFor("h"),
  leasedFor("h", "i"),
  leasedFor("i"),
  { work: [{ handler: "h" }] },
  { work: [{ handler: "i" }, ...leasedFor("h").work] },
  { work: [] },
  { work: [], parked: { reason: "unknown_type", detail: "no such type" } },
];

const nameOf = ({ seq, handler }: Lease): string => `${seq} ${handler}`;

class Life {
  readonly #scene = new Scene(kit);
  readonly #held = new Map<string, Lease>();
  readonly #lost: Lease[] = [];
  readonly #done = new Set<string>();
  readonly #planned = new Set<string>();
  #store: Store | undefined;
  #accepted = 0;
  #newest = 0;

  async begin(): Promise<void> {
    this.#store = await this.#scene.open();
  }

  get store(): Store {
    return this.#store ?? expect.unreachable();
  }

  async accept(plans: readonly number[], store = this.store): Promise<void> {
    const events = plans.map((plan) => {
      this.#accepted += 1;
      return newEvent(`evt_${this.#accepted}`, PLANS[plan % PLANS.length]);
    });
    const results = await Promise.all(events.map((event) => store.accept(event)));
    for (const [index, result] of results.entries()) {
      if (result.kind !== "stored") return expect.unreachable();
      expect(result.seq).toBeGreaterThan(this.#newest);
      this.#newest = result.seq;
      for (const { handler } of events[index]?.work ?? []) this.#planned.add(`${result.seq} ${handler}`);
      for (const lease of result.leases) this.#held.set(nameOf(lease), lease);
    }
  }

  /** Settles in one batch those whose places are given, each in its own way. */
  async settle(places: readonly number[], ways: readonly number[]): Promise<void> {
    const leases = [...new Set(places.map((place) => this.#pick(place)))].filter((lease) => lease !== undefined);
    const results = await Promise.all(
      leases.map((lease, index) => {
        const way = ways[index % Math.max(1, ways.length)] ?? 0;
        if (way === 4) return this.store.settle(settlements.pending(lease, T));
        return this.store.settle({ ...settlements.done(lease), dropSteps: way === 3 });
      }),
    );
    for (const [index, lease] of leases.entries()) {
      const way = ways[index % Math.max(1, ways.length)] ?? 0;
      this.#expectEnd(lease, results[index] === "settled", way !== 4);
    }
  }

  async commit(place: number): Promise<void> {
    const lease = this.#pick(place);
    if (lease === undefined) return;
    const isKept = await this.store
      .commit(settlements.done(lease), () => undefined)
      .then(
        () => true,
        () => false,
      );
    this.#expectEnd(lease, isKept, true);
  }

  async saveStep(place: number): Promise<void> {
    const lease = this.#pick(place);
    if (lease === undefined) return;
    const isHeld = this.#held.has(nameOf(lease)) && this.#held.get(nameOf(lease)) === lease;
    expect(await this.store.saveStep(lease, "first", "1", T)).toBe(isHeld ? "settled" : "lost");
  }

  async renew(place: number): Promise<void> {
    const lease = this.#pick(place);
    if (lease === undefined) return;
    const isHeld = this.#held.get(nameOf(lease)) === lease;
    expect(await this.store.renew([lease], T + MINUTE)).toHaveLength(isHeld ? 0 : 1);
  }

  async release(place: number): Promise<void> {
    const lease = this.#pick(place);
    if (lease === undefined) return;
    await this.store.release([lease], T);
    if (this.#held.get(nameOf(lease)) === lease) this.#lose(lease);
  }

  async lease(handler: string, limit: number): Promise<void> {
    const { work } = await leasePage(this.store, { handler, limit, now: T + DAY });
    for (const { seq, token } of work) {
      const lease = { seq, handler, token };
      expect(this.#done.has(nameOf(lease)) || this.#held.has(nameOf(lease))).toBe(false);
      this.#held.set(nameOf(lease), lease);
    }
  }

  /** The process dies. */
  async die(): Promise<void> {
    this.#store = await this.#scene.reopen(this.store);
    this.#loseAll();
  }

  /** Another process takes the file over, and the one before goes on as if nothing had happened. */
  loseFile(): void {
    this.#scene.takeOver();
    this.#loseAll();
  }

  /** All leases run out. */
  async runOut(): Promise<void> {
    await this.store.recover(T + MINUTE + 1);
    this.#loseAll();
  }

  async acceptBeside(plans: readonly number[]): Promise<void> {
    const beside = await this.#scene.openBeside();
    await this.accept(plans, beside);
    await beside.close();
  }

  async prune(): Promise<void> {
    await this.store.prune({ ...NOTHING_TO_PRUNE, idsBefore: T + DAY });
  }

  check(): void {
    expect(findLayoutFaults(this.#scene)).toEqual([]);
  }

  /** The last process does what is left. Parked after many deaths is as good as done. */
  async end(): Promise<void> {
    await this.die();
    for (const handler of ["h", "i"]) {
      for (;;) {
        const before = this.#held.size;
        await this.lease(handler, 100);
        if (this.#held.size === before) break;
      }
    }
    for (const lease of this.#held.values()) {
      this.#expectEnd(lease, (await this.store.settle(settlements.done(lease))) === "settled", true);
    }
    const parked = this.#scene.rows().map(({ seq, handler, state }) => (state === "parked" ? `${seq} ${handler}` : ""));
    const ended = [...this.#done, ...parked.filter((name) => this.#planned.has(name))];
    expect(ended.toSorted()).toEqual([...this.#planned].toSorted());
  }

  dispose(): Promise<void> {
    return this.#scene.dispose();
  }

  /** A lease that holds, most of the time; otherwise one that was lost. */
  #pick(place: number): Lease | undefined {
    const all = [...this.#held.values()];
    return place % 7 === 6 ? this.#lost.at(-1 - (place % 5)) : all[place % Math.max(1, all.length)];
  }

  #expectEnd(lease: Lease, isKept: boolean, isDone: boolean): void {
    const name = nameOf(lease);
    expect(isKept, name).toBe(this.#held.get(name) === lease);
    if (!isKept) return;
    this.#lose(lease);
    if (!isDone) return;
    expect(this.#done.has(name)).toBe(false);
    this.#done.add(name);
  }

  #lose(lease: Lease): void {
    this.#held.delete(nameOf(lease));
    this.#lost.push(lease);
  }

  #loseAll(): void {
    for (const lease of this.#held.values()) this.#lose(lease);
  }
}

const few = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 6 });
const place = fc.nat({ max: 20 });
const ways = fc.array(fc.nat({ max: 4 }), { maxLength: 4 });

/** What a step is called when a failure shows it, and what it does. */
interface Step {
  what: string;
  take: (life: Life) => Promise<void> | void;
}

const steps: Record<string, { weight: number; arbitrary: fc.Arbitrary<Step["take"]> }> = {
  accept: { weight: 6, arbitrary: few.map((plans) => (life) => life.accept(plans)) },
  settle: {
    weight: 8,
    arbitrary: fc.tuple(few, ways).map(
      ([places, by]) =>
        (life) =>
          life.settle(places, by),
    ),
  },
  commit: { weight: 2, arbitrary: place.map((at) => (life) => life.commit(at)) },
  saveStep: { weight: 1, arbitrary: place.map((at) => (life) => life.saveStep(at)) },
  renew: { weight: 2, arbitrary: place.map((at) => (life) => life.renew(at)) },
  release: { weight: 1, arbitrary: place.map((at) => (life) => life.release(at)) },
  lease: { weight: 2, arbitrary: fc.constantFrom("h", "i").map((handler) => (life) => life.lease(handler, 3)) },
  acceptBeside: { weight: 1, arbitrary: few.map((plans) => (life) => life.acceptBeside(plans)) },
  prune: { weight: 1, arbitrary: fc.constant((life) => life.prune()) },
  runOut: { weight: 1, arbitrary: fc.constant((life) => life.runOut()) },
  die: { weight: 1, arbitrary: fc.constant((life) => life.die()) },
  loseFile: { weight: 1, arbitrary: fc.constant((life) => life.loseFile()) },
};

const step = fc.oneof(
  ...Object.entries(steps).map(([what, { weight, arbitrary }]) => ({
    weight,
    arbitrary: arbitrary.map((take): Step => ({ what, take })),
  })),
);

test("the tables of a file agree in random runs, and each piece of work ends once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), async (taken) => {
      const life = new Life();
      try {
        await life.begin();
        for (const { take } of taken) {
          await take(life);
          life.check();
        }
        await life.end();
        life.check();
      } finally {
        await life.dispose();
      }
    }),
    { numRuns: LIVES },
  );
}, 600_000);
