import { once } from "node:events";
import { get } from "node:http";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { describeThrown } from "#pigeonhole/base/describe-thrown.js";
import { PACKAGE_FOLDER } from "#pigeonhole/base/package-folder.js";
import { errorKindOf } from "#pigeonhole/store/error-kind.js";
import { cpuMs } from "../support/cpu-ms.js";

const FRAME = /^ {4}at .*describe-thrown\.test\.ts:\d+:\d+/m;

function loadCustomer(): never {
  throw new TypeError("no such customer");
}

const refused = (address: string): Error =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: "ECONNREFUSED" });

const unknownHost = (host: string): Error =>
  Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });

/** A port of this machine on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : expect.unreachable();
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

  test("frames of this package and of Node's own code are left out beside others", () => {
    const error = new Error("away");
    const own = (part: string): string => `    at run (${new URL(`${part}/dispatch/run.js`, PACKAGE_FOLDER).href}:3:7)`;
    const path = `    at run (${fileURLToPath(new URL("dist/run.js", PACKAGE_FOLDER))}:3:7)`;
    const handler = "    at onSent (/app/dist/chunks/handlers.js:9:9)";
    const node = "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)";
    error.stack = ["Error: away", own("src"), handler, own("dist"), path, node].join("\n");
    expect(describeThrown(error).stack).toBe(`Error: away\n${handler}`);
    const placeless = "    at JSON.parse (<anonymous>)";
    error.stack = ["Error: away", placeless, handler, own("dist")].join("\n");
    expect(describeThrown(error).stack).toBe(`Error: away\n${placeless}\n${handler}`);
    error.stack = ["Error: away", placeless, own("dist"), node].join("\n");
    expect(describeThrown(error).stack).toBe(error.stack);
  });

  test("causes follow, each with its frames", () => {
    const cause = new RangeError("pool is empty", { cause: "a text" });
    const { error, stack } = describeThrown(new Error("no answer", { cause }));
    expect(error).toBe("Error: no answer");
    const [first = "", second = "", ...others] = stack.split("\nCaused by: ") ?? [];
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
    expect(describeThrown(error).stack.match(/Caused by/g)).toHaveLength(5);
  });

  test("a long stack is cut, and the short text before it", () => {
    const { error, stack } = describeThrown(new Error("y".repeat(5_000), { cause: new Error("z".repeat(5_000)) }));
    expect([error.length, stack.length]).toEqual([2_000, expect.any(Number)]);
    expect(stack.length).toBeLessThanOrEqual(8_000);
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
    expect(describeThrown(quoting).stack.match(/at noon/g)).toHaveLength(1);
  });

  const repeated = (n: number): string => `${"b".repeat(n)}c${"b".repeat(n)}`;
  test.each([
    ["line ends", `${"\n".repeat(100_000)}end`, "later", "no"],
    ["a repeated letter", "b".repeat(60_000), repeated(10_000), "no"],
    ["a repeated letter, beside its cause", "b".repeat(60_000), "b".repeat(60_000), repeated(10_000)],
  ])("an error whose message holds a mail of %s takes no time", (_, before, message, inner) => {
    const cause = Object.assign(new Error(inner), { code: "EMAIL" });
    const error = new Error(message, { cause });
    error.stack = `Error: ${before}\n    at send (/app/mail.js:1:2)`;
    const began = cpuMs();
    expect(describeThrown(error).error).toMatch(/^Error: (?:later|b+)/);
    expect(cpuMs() - began).toBeLessThan(100);
  });

  test("no line of a message can be taken for a frame or a cause", () => {
    const error = new Error("boom\n    at Jane (/app/jane.js:1:2)\nCaused by: Jane: x\n\n at  y");
    const { error: short, stack } = describeThrown(error);
    expect(short).toBe("Error: boom\n|     at Jane (/app/jane.js:1:2)\n| Caused by: Jane: x\n\n|  at  y");
    expect(stack.slice(short.length)).toMatch(FRAME);
    expect(stack.startsWith(short)).toBe(true);
    expect(stack.split("\nCaused by: ")).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    [
      "a code that the message lacks",
      Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }),
      "Error: socket hang up (ECONNRESET)",
    ],
    ["a code that the message has", refused("127.0.0.1:9"), "Error: connect ECONNREFUSED 127.0.0.1:9"],
    ["a code alone", Object.assign(new Error(""), { code: "ETIMEDOUT" }), "Error: ETIMEDOUT"],
    [
      "the errors of several addresses",
      Object.assign(new AggregateError([refused("::1:9"), refused("127.0.0.1:9")]), { code: "ECONNREFUSED" }),
      "AggregateError: connect ECONNREFUSED ::1:9; connect ECONNREFUSED 127.0.0.1:9",
    ],
    [
      "errors inside, with names and codes, and how many others there are",
      new AggregateError(
        [
          new TypeError("no a"),
          Object.assign(new Error("no b"), { code: "23505" }),
          ...Array.from({ length: 4 }, () => new Error("no c")),
        ],
        "All promises were rejected",
      ),
      "AggregateError: All promises were rejected: TypeError: no a; no b (23505); no c; no c; 2 more",
    ],
    [
      "what fetch could not reach",
      new TypeError("fetch failed", { cause: new AggregateError([refused("127.0.0.1:9")]) }),
      "TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:9",
    ],
    [
      "a cause of the system behind another one",
      new Error("not saved", { cause: new Error("no pool", { cause: refused("127.0.0.1:9") }) }),
      "Error: not saved: connect ECONNREFUSED 127.0.0.1:9",
    ],
    [
      "a cause that the message quotes",
      new Error("not saved, disk is full", { cause: Object.assign(new Error("disk is full"), { code: "ENOSPC" }) }),
      "Error: not saved, disk is full",
    ],
  ])("%s is in the text", (_, error, text) => {
    const { error: short, stack } = describeThrown(error);
    expect(short).toBe(text);
    expect(stack.startsWith(`${text}\n    at `)).toBe(true);
  });

  test("a real connection to a host with several addresses says what each of them answered", async () => {
    const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
    const request = get({ host: "crm.test", port: await freePort(), lookup: (_, __, found) => found(null, addresses) });
    const [thrown] = (await once(request, "error")) as unknown[];
    expect(thrown).toBeInstanceOf(AggregateError);
    expect(describeThrown(thrown).error).toMatch(
      /^AggregateError: connect ECONNREFUSED 127\.0\.0\.1:\d+; connect ECONNREFUSED 127\.0\.0\.2:\d+$/,
    );
  });

  test("groups tell kinds of outages and hosts apart, and not addresses", () => {
    const fetched = (...causes: Error[]) => new TypeError("fetch failed", { cause: new AggregateError(causes) });
    const kinds = [
      fetched(refused("10.0.0.1:443"), refused("10.0.0.2:443")),
      fetched(refused("10.0.0.3:443"), refused("10.0.0.4:443")),
      fetched(Object.assign(new Error("connect ETIMEDOUT 10.0.0.1:443"), { code: "ETIMEDOUT" })),
      new TypeError("fetch failed", { cause: unknownHost("crm.example") }),
      new TypeError("fetch failed", { cause: unknownHost("shop.example") }),
    ].map((error) => errorKindOf({ isParked: false, error: describeThrown(error).error }).message);
    expect(kinds).toEqual([
      "fetch failed: connect ECONNREFUSED …; connect ECONNREFUSED …",
      "fetch failed: connect ECONNREFUSED …; connect ECONNREFUSED …",
      "fetch failed: connect ETIMEDOUT …",
      "fetch failed: getaddrinfo ENOTFOUND crm.example",
      "fetch failed: getaddrinfo ENOTFOUND shop.example",
    ]);
  });

  test("errors inside of errors are bounded, also in an error that holds itself", () => {
    const round = new AggregateError([], "round");
    round.errors.push(round, new AggregateError([round, new Error("y".repeat(1_000))], "x".repeat(1_000)));
    expect(describeThrown(round).error.length).toBeLessThan(1_000);
    const many = new AggregateError(Array.from({ length: 1_000 }, () => new Error("z".repeat(1_000))));
    expect(describeThrown(many).error.length).toBeLessThan(1_500);
  });

  test("no line of an error inside can be taken for a frame, and what is no code or no error is left out", () => {
    const error = new AggregateError([new Error("a\n    at b (/app/c.js:1:1)"), "text"]);
    expect(describeThrown(error).error).toBe("AggregateError: a\n|     at b (/app/c.js:1:1)");
    const person = Object.assign(new Error("x"), { code: "Jane Doe", errors: ["ann@example.com"] });
    expect(describeThrown(person).error).toBe("Error: x");
    const broken = Object.defineProperty(new Error("kept"), "code", { get: () => loadCustomer() });
    expect(describeThrown(Object.defineProperty(broken, "errors", { get: () => loadCustomer() })).error).toBe(
      "Error: kept",
    );
    const unreadable = Object.defineProperty(refused("127.0.0.1:9"), "message", { get: () => loadCustomer() });
    expect(describeThrown(new AggregateError([unreadable, new Error("b")], "kept")).error).toBe(
      "AggregateError: kept: b",
    );
    expect(describeThrown(new Error("kept", { cause: unreadable })).error).toBe("Error: kept");
    expect(describeThrown(Object.assign(new Error("x"), { message: 7, code: "E7" })).error).toBe("Error: 7 (E7)");
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
