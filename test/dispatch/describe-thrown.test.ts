import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { describeThrown } from "#pigeonhole/dispatch/describe-thrown.js";

const FRAME = /^ {4}at .*describe-thrown\.test\.ts:\d+:\d+/m;

function loadCustomer(): never {
  throw new TypeError("no such customer");
}

function caught(fail: () => unknown): unknown {
  try {
    return fail();
  } catch (error) {
    return error;
  }
}

describe("an error in full", () => {
  test("an error is kept with its name, its message and its frames, and in short without the frames", () => {
    const { error, stack } = describeThrown(caught(loadCustomer));
    expect(error).toBe("TypeError: no such customer");
    expect(stack).toMatch(
      /^TypeError: no such customer\n {4}at loadCustomer \(.*describe-thrown\.test\.ts:\d+:\d+\)\n/,
    );
  });

  test("causes follow, each with its frames", () => {
    const cause = new RangeError("pool is empty", { cause: "a text" });
    const { error, stack } = describeThrown(new Error("no answer", { cause }));
    expect(error).toBe("Error: no answer");
    const [first = "", second = "", ...others] = stack?.split("\nCaused by: ") ?? [];
    expect([first, second].map((text) => text.split("\n")[0])).toEqual([
      "Error: no answer",
      "RangeError: pool is empty",
    ]);
    for (const text of [first, second]) expect(text).toMatch(FRAME);
    expect(others).toEqual(["A value that is not an Error: a text"]);
  });

  test("an error that is its own cause ends", () => {
    const error = new Error("round");
    error.cause = error;
    expect(describeThrown(error).stack?.match(/Caused by/g)).toHaveLength(5);
  });

  test("a long stack is cut, and the short text before it", () => {
    const { error, stack } = describeThrown(new Error("y".repeat(5_000), { cause: new Error("z".repeat(5_000)) }));
    expect([error.length, stack?.length]).toEqual([2_000, expect.any(Number)]);
    expect(stack?.length).toBeLessThanOrEqual(8_000);
    const causes = Array.from({ length: 5 }).reduce<Error>(
      (cause) => new Error("x".repeat(3_000), { cause }),
      new Error(),
    );
    expect(describeThrown(causes).stack).toHaveLength(8_000);
  });

  test("name and message are those that the error has now, and lines of the message are not its frames", () => {
    const error = new Error("at first");
    error.message = "later";
    error.name = "Mine";
    expect(describeThrown(error).stack).toMatch(/^Mine: later\n {4}at /);
    const quoting = new Error("see\n    at noon (mail.js:1:1)\nend");
    expect(describeThrown(quoting).stack?.match(/at noon/g)).toHaveLength(1);
  });

  test("no line of a message can be taken for a frame or a cause", () => {
    const error = new Error("boom\n    at Jane (/app/jane.js:1:2)\nCaused by: Jane: x\n\n at  y");
    const { error: short, stack = "" } = describeThrown(error);
    expect(short).toBe("Error: boom\n|     at Jane (/app/jane.js:1:2)\n| Caused by: Jane: x\n\n|  at  y");
    expect(stack.slice(short.length)).toMatch(FRAME);
    expect(stack.startsWith(short)).toBe(true);
    expect(stack.split("\nCaused by: ")).toHaveLength(1);
  });

  const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
  revoke();
  test.each<[string, unknown, string]>([
    ["a text", "words", "A value that is not an Error: words"],
    ["nothing", undefined, "A value that is not an Error: undefined"],
    ["a revoked proxy", proxy, "A value that cannot be shown as text."],
    ["an error without a stack", Object.assign(new Error("bare"), { stack: undefined }), "Error: bare"],
    ["an error whose stack is a number", Object.assign(new Error("bare"), { stack: 7 }), "Error: bare"],
    [
      "an error whose stack throws",
      Object.defineProperty(new Error("bare"), "stack", { get: () => loadCustomer() }),
      "Error: bare",
    ],
    [
      "an error whose cause throws",
      Object.defineProperty(Object.assign(new Error("bare"), { stack: "" }), "cause", { get: () => loadCustomer() }),
      "Error: bare",
    ],
    ["an error of another realm", runInNewContext("new Error('far')"), "A value that is not an Error: Error: far"],
  ])("%s is kept as text, and never throws", (_, value, text) => {
    expect(describeThrown(value)).toEqual({ error: text, stack: text });
  });
});
