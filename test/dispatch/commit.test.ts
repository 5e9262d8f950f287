import { describe, expect, onTestFinished, test } from "vitest";
import type { CommitFunction, CommitTransaction, HandlerContext } from "pigeonhole";
import { captureLog } from "../support/capture-log.js";
import { effectsIn, storeIn, tempFileWithTable } from "../support/store-in.js";
import { untilWork, workOf } from "../support/receiver.js";
import { deliverOne } from "./deliver-one.js";
import { makeGate } from "../support/gate.js";
import { errorOf } from "../support/error-of.js";

const write =
  (what: string): CommitFunction =>
  ({ db }) =>
    void db.prepare("INSERT INTO effect VALUES (?)").run(what);

/** Delivers one event to one handler on a file with a table of the user's own. */
async function run(handler: (ctx: HandlerContext) => unknown, maxAttempts = 2) {
  const file = tempFileWithTable();
  const log = captureLog();
  const retry = { initialMs: 1, factor: 1, jitter: 0, maxAttempts };
  return { file, log, ...(await deliverOne(handler, { store: storeIn(file), retry, logger: log.logger })) };
}

describe("a successful ctx.commit", () => {
  const ways: [string, (ctx: HandlerContext) => unknown][] = [
    ["returned", (ctx) => ctx.commit(write("it"))],
    [
      "awaited",
      async (ctx) => {
        await ctx.commit(write("it"));
      },
    ],
    [
      "awaited before more work",
      async (ctx) => {
        await ctx.commit(write("it"));
        await Promise.resolve();
      },
    ],
    ["neither awaited nor returned", (ctx) => void ctx.commit(write("it"))],
    [
      "neither, in an asynchronous handler",
      async (ctx) => {
        await Promise.resolve();
        void ctx.commit(write("it"));
      },
    ],
    ["taken out of its context", ({ commit }) => commit(write("it"))],
    [
      "called after a step",
      async (ctx) => {
        await ctx.step("s", () => 1);
        return ctx.commit(write("it"));
      },
    ],
    [
      "followed by a throw",
      async (ctx) => {
        await ctx.commit(write("it"));
        throw new Error("too late");
      },
    ],
    [
      "followed by a throw at once",
      (ctx) => {
        void ctx.commit(write("it"));
        throw new Error("too late");
      },
    ],
    [
      "given a function that catches its own mistake",
      (ctx) =>
        ctx.commit((tx) => {
          try {
            tx.db.exec("INSERT INTO nowhere VALUES (1)");
          } catch {
            write("it")(tx);
          }
        }),
    ],
  ];
  test.each(ways)("ctx.commit writes once, with the done mark, if it is %s", async (_, handler) => {
    const { file, receiver, event } = await run(handler);
    await untilWork(receiver, event.id, { state: "done", attempts: 1 });
    expect(effectsIn(file)).toEqual(["it"]);
    expect(await receiver.stats()).toMatchObject({ done: 1, pending: 0, running: 0, dead: 0 });
  });
});

describe("ctx.commit with an asynchronous function", () => {
  const ways: [string, (tx: CommitTransaction) => Promise<void>][] = [
    [
      "when its function is asynchronous",
      async (tx) => {
        write("half")(tx);
        await Promise.resolve();
      },
    ],
    [
      "when its function returns a promise",
      (tx) => {
        write("half")(tx);
        return Promise.reject(new Error("x"));
      },
    ],
  ];
  test.each(ways)("ctx.commit writes nothing, and the work is dead at once, %s", async (_, fn) => {
    const { file, receiver, event } = await run((ctx) => ctx.commit(fn as unknown as CommitFunction));
    await untilWork(receiver, event.id, { state: "dead", attempts: 1, reason: "commit_async" });
    expect((await workOf(receiver, event.id))?.error).toMatch(/promise/);
    expect(effectsIn(file)).toEqual([]);
  });
});

describe("a failed ctx.commit", () => {
  const ways: [string, CommitFunction, RegExp][] = [
    [
      "when its function throws",
      (tx) => {
        write("half")(tx);
        throw new Error("on second thoughts");
      },
      /second thoughts/,
    ],
    [
      "when SQL fails",
      (tx) => {
        write("half")(tx);
        tx.db.exec("INSERT INTO nowhere VALUES (1)");
      },
      /nowhere/,
    ],
  ];
  test.each(ways)("ctx.commit writes nothing, and the handler runs again, %s", async (_, fn, message) => {
    const { file, receiver, event } = await run((ctx) => (ctx.attempt === 1 ? ctx.commit(fn) : undefined));
    await untilWork(receiver, event.id, { state: "done", attempts: 2 });
    expect(effectsIn(file)).toEqual([]);
    const again = await run((ctx) => ctx.commit(fn), 1);
    await untilWork(again.receiver, again.event.id, { state: "dead" });
    expect((await workOf(again.receiver, again.event.id))?.error).toMatch(message);
    expect(effectsIn(again.file)).toEqual([]);
  });

  test("ctx.commit writes nothing, and the handler runs again, even if its rejection is not awaited or is caught", async () => {
    const fn: CommitFunction = (tx) => {
      write("half")(tx);
      throw new Error("no");
    };
    for (const handler of [
      (ctx: HandlerContext) => void ctx.commit(fn),
      (ctx: HandlerContext) => ctx.commit(fn).catch(() => "fine"),
    ]) {
      const { file, receiver, event } = await run(handler, 1);
      await untilWork(receiver, event.id, { state: "dead", error: "Error: no" });
      expect(effectsIn(file)).toEqual([]);
    }
  });
});

describe("ctx.commit called twice", () => {
  test("a second ctx.commit in a run is refused and writes nothing", async () => {
    const errors: unknown[] = [];
    const { file, receiver, event } = await run(async (ctx) => {
      await ctx.commit(write("first"));
      errors.push(await errorOf(() => ctx.commit(write("second"))));
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 1 });
    expect(errors).toEqual([expect.objectContaining({ code: "commit_twice" })]);
    expect(effectsIn(file)).toEqual(["first"]);
  });

  test("a second ctx.commit that is not awaited is logged and changes nothing", async () => {
    const { file, log, receiver, event } = await run((ctx) => {
      void ctx.commit(write("first"));
      void ctx.commit(write("second"));
    });
    await untilWork(receiver, event.id, { state: "done", attempts: 1 });
    expect(effectsIn(file)).toEqual(["first"]);
    expect(log.named("commit_refused")).toEqual([
      expect.objectContaining({ level: 50, code: "commit_twice", eventId: event.id, handler: "email.sent" }),
    ]);
  });
});

test("ctx.commit after the end of the run writes nothing, and is logged if it is not awaited", async () => {
  const gate = makeGate();
  const { file, log, receiver, event } = await run((ctx) => {
    void gate.passed.then(() => void ctx.commit(write("late")));
  });
  await untilWork(receiver, event.id, { state: "done", attempts: 1 });
  gate.open();
  await expect
    .poll(() => log.named("commit_refused"))
    .toEqual([expect.objectContaining({ level: 50, code: "run_ended", eventId: event.id, handler: "email.sent" })]);
  expect(effectsIn(file)).toEqual([]);
});

test("a logger that fails on a line about ctx.commit does not end the process", async () => {
  const gate = makeGate();
  const late = makeGate();
  const faults: unknown[] = [];
  const note = (error: unknown) => void faults.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const { receiver, event } = await run((ctx) => {
    ctx.log.error = () => {
      throw new Error("closed");
    };
    void gate.passed.then(() => ctx.commit(write("late")).catch(() => late.open()));
  });
  await untilWork(receiver, event.id, { state: "done", attempts: 1 });
  gate.open();
  await late.passed;
  await new Promise((resolve) => setImmediate(resolve));
  expect(faults).toEqual([]);
});

describe("the transaction's database", () => {
  test.each<[string, (tx: CommitTransaction) => () => unknown]>([
    ["itself", (tx) => () => tx.db],
    [
      "kept aside",
      ({ db }) =>
        () =>
          db.exec("INSERT INTO effect VALUES ('late')"),
    ],
    [
      "within a prepared statement",
      ({ db }) => {
        const statement = db.prepare("INSERT INTO effect VALUES ('late')");
        return () => statement.run();
      },
    ],
  ])("the transaction's database cannot be used after the commit: %s", async (_, keep) => {
    let useLater: (() => unknown) | undefined;
    const { file, receiver, event } = await run((ctx) => ctx.commit((tx) => void (useLater = keep(tx))));
    await untilWork(receiver, event.id, { state: "done" });
    expect(await errorOf(() => useLater?.())).toMatchObject({ code: "transaction_closed" });
    expect(effectsIn(file)).toEqual([]);
  });

  test("the transaction's database shows the work as done, and other connections show neither until the end", async () => {
    const seen: unknown[] = [];
    const { file, receiver, event } = await run((ctx) =>
      ctx.commit((tx) => {
        write("inside")(tx);
        seen.push(tx.db.prepare("SELECT count(*) FROM inbox_work WHERE state = 'done'").pluck().get(), effectsIn(file));
      }),
    );
    await untilWork(receiver, event.id, { state: "done" });
    expect(seen).toEqual([1, []]);
    expect(effectsIn(file)).toEqual(["inside"]);
  });
});
