import * as fc from "fast-check";
import type { StoreKind } from "../conformance/fixture.js";
import { MINUTE } from "../conformance/new-event.js";

/** How long a lease lasts. */
export const LEASE_MS = MINUTE;

/** What a model knows of the stores that are open on the data: the time, whose turn it is, and which were closed. */
export class Lives {
  now: number;
  /** The store whose turn it is. */
  life = 0;
  readonly kind: Pick<StoreKind, "outlives" | "isShared">;
  readonly #dead = new Set<number>();
  /** Whether the first `recover` since the store was opened has been. */
  #hasTakenOver = false;

  constructor(now: number, kind: Lives["kind"]) {
    this.now = now;
    this.kind = kind;
  }

  /** The store whose turn it is was closed, and another one goes on. */
  crash(): void {
    this.#hasTakenOver = false;
    this.#dead.add(this.life);
  }

  /** Begins a `recover`; tells which leases end, by the store that gave them and the time of their end. */
  takeOver(): (life: number | undefined, until: number | undefined) => boolean {
    const { outlives, isShared } = this.kind;
    const everything = outlives && !isShared && !this.#hasTakenOver;
    this.#hasTakenOver = true;
    return (life = -1, until = 0) => everything || (isShared && this.#dead.has(life)) || until < this.now;
  }
}

/** The stores under test, of which each command has one. */
interface Turns {
  /** Gives the turn to the next store; returns which one that is, of all that were ever opened. */
  nextStore(): number;
  /** Closes the store whose turn it is; another one goes on. */
  reopen(): Promise<unknown>;
}

/** Commands that run one step on a model and on the real store, and compare them afterwards. */
export function commandsOf<Model extends Lives, Real extends Turns>(
  compare: (model: Model, real: Real) => Promise<void>,
) {
  type Command = fc.AsyncCommand<Model, Real>;

  function command(
    name: string,
    step: (model: Model, real: Real) => Promise<void>,
    check: (model: Readonly<Model>) => boolean = () => true,
  ): Command {
    return {
      check,
      async run(model, real) {
        model.life = real.nextStore();
        await step(model, real);
        await compare(model, real);
      },
      toString: () => name,
    };
  }

  const advance = fc.constantFrom(1, 30_000, LEASE_MS, LEASE_MS + 1, 10 * LEASE_MS).map((ms) =>
    command(`advance ${ms}`, (model) => {
      model.now += ms;
      return Promise.resolve();
    }),
  );
  const crash = fc.constant(
    command("crash", async (model, real) => {
      await real.reopen();
      model.crash();
    }),
  );
  return { command, advance, crash };
}
