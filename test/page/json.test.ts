import { expect, test } from "vitest";
import { type JsonNode, parseJson } from "../../src/page/json/parse-json.js";
import { createRandom, pick, seedOfRun } from "../support/seeded-random.js";

/** What `JSON.parse` makes of a text; undefined if it refuses it, which it does with nothing else. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The value of the page's tree, member by member. */
function valueOf(node: JsonNode): unknown {
  if (node.kind === "string") return node.value;
  if (!("members" in node)) return JSON.parse(node.text);
  const members = Array.from(node.members, ({ name, node: member }) => [name, valueOf(member)] as const);
  expect(members).toHaveLength(node.count);
  return node.kind === "array" ? members.map(([, value]) => value) : Object.fromEntries(members);
}

function treeValue(text: string): unknown {
  const result = parseJson(text);
  return result.ok ? valueOf(result.node) : undefined;
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
])("the page reads %s as JSON.parse does", (text) => {
  expect(treeValue(text)).toEqual(parsed(text));
});

test("the page reads texts of JSON's characters, in any order, as JSON.parse does", () => {
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
    expect(treeValue(text), `${JSON.stringify(text)}, seed ${seed}`).toEqual(parsed(text));
  }
});
