import { describe, expect, onTestFinished, test } from "vitest";
import { PigeonholeError } from "#pigeonhole/base/error.js";
import { GroupCommit } from "#pigeonhole/store/sqlite/group-commit.js";
import type { BatchCommand } from "#pigeonhole/store/sqlite/batch.js";
import type { CommandResult } from "#pigeonhole/store/sqlite/batch.js";
import { BUSY_WAITS } from "#pigeonhole/store/while-busy.js";
import type { Settlement } from "#pigeonhole/store/work.js";
import { expectCode, newEvent } from "./conformance/new-event.js";
import { endOfTurn } from "../support/end-of-turn.js";

// How calls become batches is seen from the place where batches run; what a batch does is the stores' own tests.

const MEGABYTE = 1024 * 1024;
const OK: CommandResult = { ok: true, value: undefined };

/** Lets the test answer each batch. */
function createScript({ isThread = true } = {}) {
  const batches: { commands: readonly BatchCommand[]; answer(results: CommandResult[]): void }[] = [];
  const commits = new GroupCommit({
    run: ({ commands }) =>
      new Promise((resolve) => {
        batches.push({ commands, answer: (results) => resolve({ results }) });
      }),
    isThread,
    filesLost: new Promise(() => undefined),
    close: () => Promise.resolve(),
  });
  const accept = (bytes = 1): Promise<unknown> => commits.accept(newEvent("evt_1", { body: new Uint8Array(bytes) }));
  const answerNext = async (): Promise<number> => {
    await endOfTurn();
    const batch = batches.shift() ?? expect.unreachable();
    batch.answer(batch.commands.map(() => OK));
    return batch.commands.length;
  };
  return { commits, batches, accept, answerNext };
}

test("the calls that arrive during a batch are the next batch, and one batch runs at a time", async () => {
  const { accept, answerNext, batches } = createScript();
  const calls = [accept(), accept()];
  await endOfTurn();
  calls.push(accept(), accept(), accept());
  await endOfTurn();
  expect(batches).toHaveLength(1);
  expect([await answerNext(), await answerNext()]).toEqual([2, 3]);
  await Promise.all(calls);
});

describe("done marks", () => {
  const done: Settlement = { seq: 1, handler: "a", token: 1, at: 0, dropSteps: false, to: "done" };

  test("done marks wait for an event that shares their commit", async () => {
    const { commits, accept, answerNext, batches } = createScript();
    const calls: Promise<unknown>[] = [commits.settle(done), commits.settle({ ...done, seq: 2 })];
    await endOfTurn();
    expect(batches).toHaveLength(0);
    calls.push(accept());
    expect(await answerNext()).toBe(3);
    await Promise.all(calls);
  });

  test("done marks wait for an event also after a commit", async () => {
    const { commits, accept, answerNext, batches } = createScript();
    const calls = [accept()];
    await endOfTurn();
    calls.push(commits.settle(done));
    await answerNext();
    await endOfTurn();
    expect(batches).toHaveLength(0);
    calls.push(accept());
    expect(await answerNext()).toBe(2);
    await Promise.all(calls);
  });

  test("done marks are committed without an event after a moment", async () => {
    const { commits, answerNext, batches } = createScript();
    const call = commits.settle(done);
    await expect.poll(() => batches.length).toBe(1);
    expect(await answerNext()).toBe(1);
    await call;
  });

  test("done marks do not wait if there is no thread, where a commit costs little", async () => {
    const { commits, answerNext } = createScript({ isThread: false });
    const call = commits.settle(done);
    expect(await answerNext()).toBe(1);
    await call;
  });

  test("done marks that wait do not delay a turn", async () => {
    const { commits } = createScript();
    const turns: string[] = [];
    const turn = (name: string) => () => {
      turns.push(name);
      return false;
    };
    commits.takeTurn(turn("first"));
    await endOfTurn();
    void commits.settle(done);
    commits.takeTurn(turn("second"));
    for (let count = 0; count < 3; count += 1) await endOfTurn();
    expect(turns).toEqual(["first", "second"]);
  });

  test("done marks do not wait once the store is to be closed", async () => {
    const { commits, answerNext } = createScript();
    const call = commits.settle(done);
    const finished = commits.finish(new PigeonholeError("stopped", "closed"));
    expect(await answerNext()).toBe(1);
    await Promise.all([call, finished]);
  });
});

test.each([
  ["256 calls at most", Array.from({ length: 600 }, () => 1), [256, 256, 88]],
  ["8 MB of bodies at most", [4, 4, 4].map((size) => size * MEGABYTE), [2, 1]],
  ["one call at the least", [9, 9].map((size) => size * MEGABYTE), [1, 1]],
])("a batch has %s", async (_, sizes, batches) => {
  const { accept, answerNext } = createScript();
  const calls = sizes.map((bytes) => accept(bytes));
  const seen: number[] = [];
  while (seen.length < batches.length) seen.push(await answerNext());
  expect(seen).toEqual(batches);
  await Promise.all(calls);
});

test("a turn is taken between two batches", async () => {
  const { commits, accept, answerNext, batches } = createScript();
  const calls = [accept()];
  await endOfTurn();
  let turns = 0;
  commits.takeTurn(() => {
    turns += 1;
    return false;
  });
  calls.push(accept());
  await endOfTurn();
  expect(turns).toBe(0);
  await answerNext();
  await expect.poll(() => batches.length).toBe(1);
  expect(turns).toBe(1);
  await answerNext();
  await Promise.all(calls);
});

test("the event loop runs before and after a turn, which may block it, and a batch runs between two turns", async () => {
  const { commits, accept, batches } = createScript();
  const order: string[] = [];
  const look = (): void => void setImmediate(() => order.push("the loop runs"));
  const takeTurn = (): void =>
    commits.takeTurn(() => {
      order.push("turn");
      look();
      return false;
    });
  const first = accept().then(() => order.push("answered"));
  await endOfTurn();
  takeTurn();
  const second = accept();
  batches.shift()?.answer([OK]);
  await first;
  expect(order).toEqual(["answered"]);
  await endOfTurn();
  expect([...order, batches.length]).toEqual(["answered", "turn", 0]);
  takeTurn();
  await expect.poll(() => batches.length).toBe(1);
  expect(order).toEqual(["answered", "turn", "the loop runs"]);
  batches.shift()?.answer([OK]);
  await second;
  await expect.poll(() => order.filter((what) => what === "turn")).toHaveLength(2);
});

test("a batch that finds a lock is tried 4 times in all", async () => {
  const { waitMs } = BUSY_WAITS.batch;
  Object.assign(BUSY_WAITS.batch, { waitMs: 1 });
  onTestFinished(() => void Object.assign(BUSY_WAITS.batch, { waitMs }));
  const { accept, batches } = createScript();
  const busy: CommandResult = { ok: false, code: "store_busy", message: "locked", breaking: false };
  const call = accept();
  let tries = 0;
  const answering = (async () => {
    for (; tries < 4; tries += 1) {
      while (batches.length === 0) await endOfTurn();
      batches.shift()?.answer([busy]);
    }
  })();
  await expectCode(call, "store_busy");
  await answering;
  expect([tries, batches.length]).toEqual([4, 0]);
});

test("a batch that was partly committed is not run again for a command that found a lock", async () => {
  const { accept, batches } = createScript();
  const busy: CommandResult = { ok: false, code: "store_busy", message: "locked", breaking: false };
  const calls = [accept(), accept()];
  const outcomes = Promise.allSettled(calls);
  await endOfTurn();
  batches.shift()?.answer([busy, OK]);
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  expect(batches).toHaveLength(0);
});

test.each([0, 1, 2])(
  "an error at place %i that leaves SQLite in doubt refuses all waiting and later calls",
  async (place) => {
    const { commits, accept, batches } = createScript();
    const batch = [accept(), accept(), accept()];
    const outcomes = Promise.allSettled(batch);
    await endOfTurn();
    const waiting = accept();
    let turnWas: PigeonholeError | undefined;
    commits.takeTurn((broken) => {
      turnWas = broken;
      return false;
    });
    const broken: CommandResult = { ok: false, code: "store_failed", message: "SQLITE_IOERR_FSYNC", breaking: true };
    batches.shift()?.answer([0, 1, 2].map((index) => (index === place ? broken : OK)));

    await expectCode(waiting, "store_failed");
    await expectCode(accept(), "store_failed");
    expect((await outcomes).map(({ status }) => status === "rejected")).toEqual(
      [0, 1, 2].map((index) => index === place),
    );
    expect(turnWas?.code).toBe("store_failed");
    expect(() => commits.takeTurn(() => expect.unreachable())).toThrow(/fix the disk/);
    await commits.finish(new PigeonholeError("stopped", "closed"));
    expect(batches).toEqual([]);
  },
);
