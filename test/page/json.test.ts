import { expect, test } from "vitest";
import { findProblem } from "../../src/page/json/parse-json.js";
import { createRandom, pick, seedOfRun } from "../support/seeded-random.js";

/** Whether `JSON.parse` takes a text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  String.raw`"a\"b\\c\/\b\f\n\r\t"`,
  String.raw`"\u0041\uD83D\ude00"`,
  String.raw`"\u004"`,
  String.raw`"\u00g1"`,
  String.raw`"\x41"`,
  String.raw`"\"`,
  String.raw`"\\"`,
  String.raw`"\\\"`,
  '"\u0000"',
  '"a\nb"',
  '"\u007f\u2028 \ud800"',
  '"no end',
  '"',
  "",
  " [ ] ",
  "[[],{},[{}]]",
  "[1,]",
  '{"a":1,"a":2}',
  '{"__proto__":[1]}',
  "-0.5e+10",
  "01",
  "1 2",
])("the page finds a problem in %s where JSON.parse does", (text) => {
  expect(findProblem(text) === undefined).toBe(isJson(text));
});

test("the page finds problems in texts of JSON's characters, in any order, where JSON.parse does", () => {
  const seed = seedOfRun();
  const random = createRandom(seed);
  const parts = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    '"',
    '"',
    "\\",
    "u0041",
    "1",
    "-",
    "e",
    ".",
    " ",
    "\n",
    "true",
    '"a":',
    "[1]",
  ];
  for (let round = 0; round < 2_000; round += 1) {
    const text = Array.from({ length: 1 + Math.floor(random() * 9) }, () => pick(random, parts)).join("");
    expect(findProblem(text) === undefined, `${JSON.stringify(text)}, seed ${seed}`).toBe(isJson(text));
  }
});
