import { expect, test } from "vitest";
import { errorKeyOf, errorKindOf } from "#pigeonhole/store/error-kind.js";
import { cpuMs } from "../support/cpu-ms.js";

const run = (error: string) => errorKindOf({ isParked: false, error });

test.each([
  ["Error: no answer", { kind: "Error", message: "no answer" }],
  [
    "TypeError: Cannot read properties of undefined (reading 'name')",
    { message: "Cannot read properties of undefined (reading …)" },
  ],
  ["Error: order 1234 of ann@example.com is gone", { message: "order … of … is gone" }],
  ["Error: GET https://api.example.com/v1/contacts/42?x=1 gave 503", { message: "GET … gave …" }],
  ["Error: no row c0ffee12-1111-4222-8333-abcdefabcdef", { message: "no row …" }],
  ["Error: digest deadbeefcafe differs", { message: "digest … differs" }],
  ["Error: can't find \"a\" or `b`, isn't there", { message: "can't find … or …, isn't there" }],
  ["Error: no «Ann» of „Bob“, ‘Cid’ and “Dan”", { message: "no … of … and …" }],
  ["Error: connect ECONNREFUSED 127.0.0.1:99", { message: "connect ECONNREFUSED …" }],
  ["Error: connect ECONNREFUSED ::1:99", { message: "connect ECONNREFUSED …" }],
  ["Error: connect ECONNREFUSED fe80::a:b:54321", { message: "connect ECONNREFUSED …" }],
  [
    "Error: no std::move of foreign_key in get_userProfile",
    { message: "no std::move of foreign_key in get_userProfile" },
  ],
  ["Error: ids 1, 2, 3 at 12:30:59", { message: "ids … at …" }],
  ["Error: line one\n  line two", { message: "line one line two" }],
  ["Error: ", { kind: "Error", message: "" }],
  ["A value that is not an Error: 7", { kind: "Error", message: "A value that is not an Error: …" }],
  ["PrismaClient.KnownError: unique", { kind: "PrismaClient.KnownError", message: "unique" }],
])("%j is %o", (error, expected) => {
  expect(run(error)).toMatchObject(expected);
});

test("parked work is told apart by its reason, and dead work is as it was while it was tried again", () => {
  expect(errorKindOf({ isParked: true, reason: "unknown_type", error: "no handler of email.x1" })).toEqual({
    kind: "unknown_type",
    message: "no handler of …",
  });
  const error = "Error: no answer";
  expect(errorKeyOf({ isParked: false, reason: "attempts_spent", error })).toBe(errorKeyOf({ isParked: false, error }));
  expect(errorKeyOf({ isParked: false, error: "Error: no answers" })).not.toBe(errorKeyOf({ isParked: false, error }));
});

test.each([
  "a@".repeat(5_000),
  "'".repeat(9_999),
  "1.".repeat(5_000),
  "a:".repeat(5_000),
  "ab_".repeat(5_000),
  "«".repeat(9_999),
  "http://".repeat(2_000),
  `"${"\\".repeat(9_999)}`,
])("a hostile text is read at once", (text) => {
  const begin = cpuMs();
  expect(run(`Error: ${text}`).message.length).toBeLessThanOrEqual(300);
  expect(cpuMs() - begin).toBeLessThan(100);
});
