import * as fc from "fast-check";
import { expect, test } from "vitest";
import { context, type StoreKind, T } from "../conformance/fixture.js";
import { commandsFor, type Real } from "./commands.js";
import { Model } from "./model.js";
import { drain, outboxCommandsFor } from "./outbox-commands.js";
import { OutboxModel } from "./outbox-model.js";

/** Which store, and how many lives of how many commands it has. */
export interface ModelRun {
  kind: StoreKind;
  numRuns: number;
  maxCommands: number;
}

/**
 * Random commands against the store and against plain objects: after each one both must tell the same.
 * A failure prints the seed and the shortest run found; give both to `fc.assert` as `{ seed, path }` to see it again.
 */
export function testModels({ kind, numRuns, maxCommands }: ModelRun): void {
  const size = { maxCommands, size: "max" } as const;

  test(`${kind.name} does what the model of a store does`, { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commandsFor(kind), size), (commands) =>
        withStore(kind, async (real) => {
          const model = new Model(T, kind);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          expect((await real.written()).toSorted()).toEqual(model.effects.toSorted());
        }),
      ),
      { numRuns },
    );
  });

  test(`${kind.name} does what the model of an outbox does`, { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(outboxCommandsFor(kind), size), (commands) =>
        withStore(kind, async (real) => {
          const model = new OutboxModel(T, kind);
          await fc.asyncModelRun(() => ({ model, real }), commands);
          await drain(model, real);
        }),
      ),
      { numRuns },
    );
  });
}

async function withStore(kind: StoreKind, use: (real: Real) => Promise<void>): Promise<void> {
  const under = await kind.create();
  await under.store.open(context);
  const real: Real = {
    store: under.store,
    async reopen() {
      await real.store.close();
      const next = under.another?.() ?? expect.unreachable();
      await next.open(context);
      return (real.store = next);
    },
    write: (tx, text) => under.write(tx, text),
    written: () => under.written(),
  };
  try {
    await use(real);
  } finally {
    await real.store.close();
    await under.dispose();
  }
}
