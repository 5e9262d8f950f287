import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Store } from "#pigeonhole/store/store.js";
import { context, T } from "../conformance/new-event.js";
import { type StoreKind } from "../conformance/fixture.js";
import { commandsFor, type Real } from "./commands.js";
import { Model } from "./model.js";
import { drain, outboxCommandsFor } from "./outbox-commands.js";
import { OutboxModel } from "./outbox-model.js";

/** Which store, and how many lives of how many commands it has. */
export interface ModelRun {
  kind: StoreKind;
  /** How many stores are open on the data at once; commands go to them in turn. @default 1 */
  stores?: number;
  numRuns: number;
  maxCommands: number;
  /** For the same commands each time. */
  seed?: number;
}

/**
 * Random commands against the store and against plain objects: after each one both must tell the same.
 * A failure prints the seed and the shortest run found; give both to `fc.assert` as `{ seed, path }` to see it again.
 */
export function testModels(run: ModelRun): void {
  const { kind, numRuns, maxCommands, stores = 1, seed } = run;
  const name = stores === 1 ? kind.name : `${kind.name} with ${stores} stores`;
  const size = { maxCommands, size: "max" } as const;

  test(`${name} does what the model of a store does`, () => compareWithModel(run));

  test(`${name} does what the model of an outbox does`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(outboxCommandsFor(kind), size), (commands) =>
        withStores(run, async (real) => {
          const model = new OutboxModel(T, kind);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await drain(model, real);
        }),
      ),
      { numRuns, ...(seed !== undefined && { seed }) },
    );
  });
}

/** Rejects where the store does other than the model; with a seed, at the first difference. */
export async function compareWithModel(run: ModelRun): Promise<void> {
  const { kind, numRuns, maxCommands, seed } = run;
  const size = { maxCommands, size: "max" } as const;
  await fc.assert(
    fc.asyncProperty(fc.commands(commandsFor(kind), size), (commands) =>
      withStores(run, async (real) => {
        const model = new Model(T, kind);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        expect((await real.written()).toSorted()).toEqual(model.effects.toSorted());
      }),
    ),
    { numRuns, ...(seed !== undefined && { seed, endOnFailure: true }) },
  );
}

async function withStores({ kind, stores }: ModelRun, use: (real: Real) => Promise<void>): Promise<void> {
  const under = await kind.create();
  const opened = [under.store];
  await under.store.open(context);
  const openAnother = async (): Promise<Store<unknown>> => {
    const next = under.another?.() ?? expect.unreachable();
    await next.open(context);
    opened.push(next);
    return next;
  };
  const current = [under.store];
  while (current.length < (stores ?? 1)) current.push(await openAnother());
  let turn = 0;
  const real: Real = {
    store: under.store,
    nextStore() {
      turn = (turn + 1) % current.length;
      real.store = current[turn] ?? expect.unreachable();
      return opened.indexOf(real.store);
    },
    async reopen() {
      await real.store.close();
      real.store = await openAnother();
      current[turn] = real.store;
      return real.store;
    },
    write: (tx, text) => under.write(tx, text),
    written: () => under.written(),
    faults: async () => (await under.faults?.()) ?? [],
  };
  try {
    await use(real);
  } finally {
    for (const store of current) await store.close();
    await under.dispose();
  }
}
