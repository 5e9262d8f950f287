import { EVENT_TYPES } from "pigeonhole/protocol";
import { expect, test } from "vitest";
import { completeTerm, endQuote, isUnfinished, splitAtCaret } from "../../src/page/state/search-terms.js";

test.each([
  ["verdict:b type:email", 9, "verdict:b"],
  ["verdict:b type:email", 10, ""],
  ["verdict:b type:email", 20, "type:email"],
  ['data.a:"one two" b', 11, 'data.a:"one two"'],
  ["one", 0, ""],
])("of %j, the term at the caret %i is %j", (text, caret, term) => {
  const { before, term: found, after } = splitAtCaret(text, caret);
  expect([found, before + found + after]).toEqual([term, text]);
});

test.each([
  ["ver", ["verdict:"]],
  ["-ver", ["-verdict:"]],
  ["verdict:b", ["verdict:bad"]],
  ["type:email.s", ["type:email.sent", "type:email.scheduled"]],
  ["outcome:", ["outcome:accepted", "outcome:duplicate", "outcome:parked"]],
  ["status:2xx", []],
])("%j is completed by %j", (word, terms) => {
  const offers = completeTerm(word, EVENT_TYPES).map(({ term }) => term);
  expect(offers.slice(0, Math.max(3, terms.length))).toEqual(expect.arrayContaining(terms));
  if (terms.length === 0) expect(offers).toEqual([]);
});

test.each(["ver", "zzz:", "data.", 'data.subject:"Invoice 20', '"one', String.raw`"a \"`])(
  "%j finds nothing yet, so that nothing is asked",
  (term) => expect(isUnfinished(term)).toBe(true),
);

test.each(["", "order", 'data.subject:"Invoice 2041"', String.raw`data.subject:"The \"blue\" order"`])(
  "%j is a whole term",
  (term) => expect(isUnfinished(term)).toBe(false),
);

test("a quote without an end gets one", () => {
  expect([endQuote('"one two'), endQuote('"one two"'), endQuote(String.raw`"\"`)]).toEqual([
    '"one two"',
    '"one two"',
    String.raw`"\""`,
  ]);
});
