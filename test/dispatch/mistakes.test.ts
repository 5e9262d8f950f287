import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type CommitFunction, type ErrorCode, type HandlerContext, RetryAfter } from "pigeonhole";
import { closeReceiver, untilWork, workOf } from "../support/receiver.js";
import { deliverOne } from "./deliver-one.js";
import { FATAL_MISTAKES } from "#pigeonhole/dispatch/settlement-of.js";

const HANDLERS = readFileSync(new URL("../../docs/handlers.md", import.meta.url), "utf8");
const order = { name: "order.shipped", email: "ada@example.com" };
const async = (() => Promise.resolve()) as unknown as CommitFunction;
const generator = function* () {} as unknown as CommitFunction;
const asyncGenerator = async function* () {} as unknown as CommitFunction;

async function runOnce(handler: (ctx: HandlerContext) => unknown) {
  const { receiver, event } = await deliverOne(handler, { retry: { initialMs: 3_600_000 } });
  await untilWork(receiver, event.id, {
    attempts: 1,
    state: expect.stringMatching(/^(dead|retrying|done)$/) as "dead",
  });
  const work = await workOf(receiver, event.id);
  await closeReceiver(receiver);
  return work;
}

const failing: CommitFunction = () => {
  throw new Error("for the moment");
};

/** Its code, what makes it, what becomes of the work, and, where no code is kept, what its error says. */
type Mistake = [ErrorCode, string, "dead" | "retrying", (ctx: HandlerContext) => unknown, string?];

test.each<Mistake>([
  ["api_not_configured", "ctx.api without the option api", "dead", (ctx) => ctx.api.contactEvents],
  ["api_not_configured", "a contact event without the option api", "dead", (ctx) => ctx.contactEvents.record(order)],
  ["commit_async", "a promise in ctx.commit", "dead", (ctx) => ctx.commit(async)],
  ["commit_async", "a promise in a ctx.commit that is not awaited", "dead", (ctx) => void ctx.commit(async)],
  // They have not run at all.
  ["commit_async", "a generator in ctx.commit", "dead", (ctx) => ctx.commit(generator)],
  ["commit_async", "an asynchronous generator in ctx.commit", "dead", (ctx) => ctx.commit(asyncGenerator)],
  ["step_not_json", "a step whose value cannot be kept", "dead", (ctx) => ctx.step("n", () => 5n)],
  [
    "commit_twice",
    "a second ctx.commit after one that failed",
    "retrying",
    (ctx) => ctx.commit(failing).catch(() => ctx.commit(() => undefined)),
    "twice in one run",
  ],
  [
    "duplicate_step",
    "a second step of the name of one that failed",
    "retrying",
    (ctx) => ctx.step("n", () => Promise.reject(new Error("for the moment"))).catch(() => ctx.step("n", () => 1)),
    "used twice in one run",
  ],
  [
    "invalid_argument",
    "RetryAfter with what is no time",
    "retrying",
    () => {
      throw new RetryAfter("busy", Number("Wed, 21 Oct 2026 07:28:00 GMT"));
    },
    "RetryAfter takes",
  ],
  [
    "transaction_ended",
    "SQL that ends the transaction",
    "retrying",
    (ctx) => ctx.commit(({ db }) => db.exec("ROLLBACK")),
    "begins or ends a transaction",
  ],
])("the mistake %s, made by %s, leaves the work %s after its first run", async (code, _, state, handler, text = "") => {
  expect(await runOnce(handler)).toMatchObject({
    state,
    reason: state === "dead" ? code : null,
    attempts: 1,
    error: expect.stringMatching(new RegExp(`^PigeonholeError: .*${text}`)) as string,
  });
});

test("a mistake that the handler catches does not make its work dead", async () => {
  const work = await runOnce(async (ctx) => {
    await ctx.step("n", () => 5n).catch(() => undefined);
  });
  expect(work).toMatchObject({ state: "done" });
});

test("the documentation has each mistake that makes work dead at once, and no other", () => {
  const [, table = ""] = /\| code \| the mistake.*\n.*\n((?: *\|.*\n)+)/.exec(HANDLERS) ?? [];
  const codes = [...table.matchAll(/^ *\| `(\w+)`/gm)].map(([, code]) => code);
  expect(new Set(codes)).toEqual(new Set(FATAL_MISTAKES));
});
