import * as fc from "fast-check";
import { expect, test } from "vitest";
import { context, type StoreKind, T } from "./conformance/fixture.js";
import { commandsFor, type Real } from "./model/commands.js";
import { Model } from "./model/model.js";
import { drain, outboxCommandsFor } from "./model/outbox-commands.js";
import { OutboxModel } from "./model/outbox-model.js";
import { FILE_WITH_THREAD, FILE_WITHOUT_THREAD, MEMORY } from "./sqlite-kind.js";

// Random commands against the store and against plain objects: after each one both must tell the same.
// A failure prints the seed and the shortest run found; give both to `fc.assert` as `{ seed, path }` to see it again.

test.each<[string, StoreKind, { numRuns: number; maxCommands: number }]>([
  ["in memory", MEMORY, { numRuns: 300, maxCommands: 100 }],
  ["in a file without a thread", FILE_WITHOUT_THREAD, { numRuns: 50, maxCommands: 60 }],
  ["in a file", FILE_WITH_THREAD, { numRuns: 20, maxCommands: 60 }],
])("a store %s does what the model does", { timeout: 120_000 }, async (_, kind, { numRuns, maxCommands }) => {
  const outlives = kind !== MEMORY;
  await fc.assert(
    fc.asyncProperty(fc.commands(commandsFor(outlives), { maxCommands, size: "max" }), (commands) =>
      withStore(kind, async (real) => {
        const model = new Model(T);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        expect((await real.written()).toSorted()).toEqual(model.effects.toSorted());
      }),
    ),
    { numRuns },
  );
});

test.each<[string, StoreKind, { numRuns: number; maxCommands: number }]>([
  ["in memory", MEMORY, { numRuns: 300, maxCommands: 100 }],
  ["in a file without a thread", FILE_WITHOUT_THREAD, { numRuns: 50, maxCommands: 60 }],
  ["in a file", FILE_WITH_THREAD, { numRuns: 20, maxCommands: 60 }],
])("an outbox %s does what the model does", { timeout: 120_000 }, async (_, kind, { numRuns, maxCommands }) => {
  const outlives = kind !== MEMORY;
  await fc.assert(
    fc.asyncProperty(fc.commands(outboxCommandsFor(outlives), { maxCommands, size: "max" }), (commands) =>
      withStore(kind, async (real) => {
        const model = new OutboxModel(T);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await drain(model, real);
      }),
    ),
    { numRuns },
  );
});

async function withStore(kind: StoreKind, use: (real: Real) => Promise<void>): Promise<void> {
  const under = await kind.create();
  await under.store.open(context);
  const real: Real = {
    store: under.store,
    outlives: under.another !== undefined,
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
