import { expect, onTestFinished, test } from "vitest";
import type { CommitFunction, HandlerContext } from "pigeonhole";
import { captureLog } from "../support/capture-log.js";
import { effectsIn, storeIn, tempFileWithTable } from "../support/store-in.js";
import { untilWork } from "../support/receiver.js";
import { deliverOne } from "./deliver-one.js";
import { makeGate } from "../support/gate.js";
import { errorOf } from "../support/error-of.js";

const write =
  (what: string): CommitFunction =>
  ({ db }) =>
    void db.prepare("INSERT INTO effect VALUES (?)").run(what);

const fail = (): never => {
  throw new Error("no");
};

/** Writes, and then fails. */
const half =
  (end: CommitFunction): CommitFunction =>
  (tx) => {
    write("half")(tx);
    return end(tx);
  };

/** Delivers one event to one handler on a file with a table of the user's own. */
async function run(handler: (ctx: HandlerContext) => unknown, maxAttempts = 2) {
  const file = tempFileWithTable();
  const log = captureLog();
  const retry = { initialMs: 1, factor: 1, jitter: 0, maxAttempts };
  return { file, log, ...(await deliverOne(handler, { store: storeIn(file), retry, logger: log.logger })) };
}

test.each<[string, (ctx: HandlerContext) => unknown]>([
  ["returned", (ctx) => ctx.commit(write("it"))],
  ["awaited before more work", (ctx) => ctx.commit(write("it")).then(() => Promise.resolve())],
  ["neither awaited nor returned", (ctx) => void ctx.commit(write("it"))],
  ["neither, in an asynchronous handler", (ctx) => Promise.resolve().then(() => void ctx.commit(write("it")))],
  ["taken out of its context", ({ commit }) => commit(write("it"))],
  ["called after a step", (ctx) => ctx.step("s", () => 1).then(() => ctx.commit(write("it")))],
  ["followed by a throw", (ctx) => ctx.commit(write("it")).then(fail)],
  ["followed by a throw at once", (ctx) => (void ctx.commit(write("it")), fail())],
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
])("ctx.commit writes once, with the done mark, if it is %s", async (_, handler) => {
  const { file, receiver, event } = await run(handler);
  await untilWork(receiver, event.id, { state: "done", attempts: 1 });
  expect(effectsIn(file)).toEqual(["it"]);
  expect(await receiver.stats()).toMatchObject({ done: 1, pending: 0, running: 0, dead: 0 });
});

test.each<[string, CommitFunction, (ctx: HandlerContext, fn: CommitFunction) => unknown]>([
  ["when its function throws", half(fail), (ctx, fn) => ctx.commit(fn)],
  ["when SQL fails", half(({ db }) => db.exec("INSERT INTO nowhere VALUES (1)")), (ctx, fn) => ctx.commit(fn)],
  ["when its rejection is not awaited", half(fail), (ctx, fn) => void ctx.commit(fn)],
  ["when its rejection is caught", half(fail), (ctx, fn) => ctx.commit(fn).catch(() => "fine")],
])("a failed ctx.commit writes nothing, and the handler runs again, %s", async (_, fn, handler) => {
  const { file, receiver, event } = await run((ctx) => (ctx.attempt < 3 ? handler(ctx, fn) : undefined), 3);
  await untilWork(receiver, event.id, { state: "done", attempts: 3 });
  expect(effectsIn(file)).toEqual([]);
});

test("a second ctx.commit in a run is refused, writes nothing, and is logged if it is not awaited", async () => {
  const errors: unknown[] = [];
  const { file, log, receiver, event } = await run(async (ctx) => {
    await ctx.commit(write("first"));
    errors.push(await errorOf(() => ctx.commit(write("second"))));
    void ctx.commit(write("third"));
  });
  await untilWork(receiver, event.id, { state: "done", attempts: 1 });
  expect(errors).toEqual([expect.objectContaining({ code: "commit_twice" })]);
  expect(effectsIn(file)).toEqual(["first"]);
  const line = { level: 50, code: "commit_twice", eventId: event.id, handler: "email.sent" };
  expect(log.named("commit_refused")).toMatchObject([line, line]);
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
