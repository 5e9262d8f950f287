import { describe, expect, test } from "vitest";
import { createMentionsEmail } from "#pigeonhole/base/mentions-email.js";

const EMAIL = "ann.b+1@x-y.de";

/** JSON that is a string of JSON, that many levels of it. */
function nested(value: unknown, levels: number): string {
  return levels === 0 ? (value as string) : nested(JSON.stringify(value), levels - 1);
}

const MENTIONED: readonly [what: string, text: string][] = [
  ["the address alone", "ann.b+1@x-y.de"],
  ["another case", "ANN.b+1@X-Y.de"],
  ["a string of JSON", '{"data":{"to":["ann.b+1@x-y.de"]}}'],
  ["a name in JSON", '{"ann.b+1@x-y.de":1}'],
  ["a string that is the whole JSON", '"ann.b+1@x-y.de"'],
  ["an escape of JSON", String.raw`{"to":"ann.b\u002b1\u0040x-y.de"}`],
  ["JSON, behind an escaped line end", String.raw`{"text":"Hello\nann.b+1@x-y.de"}`],
  ["JSON that names a field twice", '{"to":"ann.b+1@x-y.de","to":"b@x.de"}'],
  ["JSON that names a field twice, escaped", String.raw`{"to":"ann.b\u002b1@x-y.de","to":"b@x.de"}`],
  ["JSON in a string of JSON", JSON.stringify({ raw: JSON.stringify({ to: EMAIL }) })],
  ["JSON in JSON, behind an escaped line end", nested({ text: `Hello\n${EMAIL}` }, 2)],
  ["JSON in JSON, behind an escaped tab and quotation mark", nested({ text: `\t"\t${EMAIL}` }, 2)],
  ["JSON in JSON, escaped inside", String.raw`{"raw":"{\"mail\":\"\\u0061nn.b+1\\u0040x-y.de\"}"}`],
  ["JSON in JSON, both escaped", String.raw`{"raw":"\u005cu0061nn.b+1@x-y.de"}`],
  ["JSON in JSON, behind an escape of a letter sign", String.raw`{"raw":"\"\\u003eann.b+1@x-y.de\""}`],
  ["JSON five times in JSON", nested({ text: `Hello\n${EMAIL}` }, 6)],
  ["JSON in JSON in a text that is no JSON", `body: ${nested({ text: `Hello\n${EMAIL}` }, 2)}`],
  ["a text behind a backslash", String.raw`DOMAIN\ann.b+1@x-y.de`],
  ["a link", '{"url":"https://x.de/?to=ann.b%2B1%40x-y.de&a=1"}'],
  ["a link, with an escape of JSON", String.raw`{"url":"https://x.de/?to\u003dann.b%2B1%40x-y.de"}`],
  ["a text that is not JSON", "{to: ann.b+1@x-y.de"],
  ["angle brackets", "Ann <ann.b+1@x-y.de>"],
  ["quotation marks", "'ann.b+1@x-y.de'"],
  ["the end of a sentence", "Write to ann.b+1@x-y.de."],
  ["points", "see...ann.b+1@x-y.de..."],
  ["a mailto", "mailto:ann.b+1@x-y.de?subject=a"],
  ["a percent sign that encodes nothing", "100 % ann.b+1@x-y.de, %ff%4"],
];

const NOT_MENTIONED: readonly [what: string, text: string][] = [
  ["nothing", ""],
  ["a longer local part", "joann.b+1@x-y.de"],
  ["a longer local part with a point", "jo.ann.b+1@x-y.de"],
  ["a longer local part with a sign", "jo-ann.b+1@x-y.de jo_ann.b+1@x-y.de jo+ann.b+1@x-y.de"],
  ["a longer domain", "ann.b+1@x-y.de.com"],
  ["a longer last label", "ann.b+1@x-y.dev ann.b+1@x-y.de-x.com"],
  ["a longer local part of other letters", "éann.b+1@x-y.de"],
  ["a longer local part, escaped", String.raw`{"to":"\u00e9ann.b+1@x-y.de"}`],
  ["a longer local part, percent-encoded", "jo%2Eann.b+1%40x-y.de"],
  ["a longer local part, in JSON in JSON", nested({ to: "joann.b+1@x-y.de", text: "\n\njo-ann.b+1@x-y.de" }, 2)],
  ["a longer local part, escaped in JSON in JSON", String.raw`{"raw":"\"\\u00e9ann.b+1@x-y.de\""}`],
  ["another sign for a point", "annXb+1@x-y.de ann.b+1@x-yXde"],
  ["only the parts of it", '{"local":"ann.b+1","domain":"x-y.de"}'],
];

describe("createMentionsEmail", () => {
  const mentions = createMentionsEmail(EMAIL);

  test.each(MENTIONED)("an address is found in %s", (_what, text) => {
    expect([mentions(text), mentions(Buffer.from(text))]).toEqual([true, true]);
  });

  test.each(NOT_MENTIONED)("an address is not found in %s", (_what, text) => {
    expect([mentions(text), mentions(Buffer.from(text))]).toEqual([false, false]);
  });

  test("an address is found in bytes that are not UTF-8", () => {
    expect(mentions(Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), Buffer.from(EMAIL)]))).toBe(true);
  });

  test("the letter of an escape before an address is not part of it", () => {
    const texts = [{ text: "Hello\nora@x.de" }, { text: "Hello\tara@x.de" }].map((value) => JSON.stringify(value));
    const of = (email: string): boolean[] => texts.map(createMentionsEmail(email));
    expect([of("ora@x.de"), of("nora@x.de")]).toEqual([
      [true, false],
      [false, false],
    ]);
    expect([of("ara@x.de"), of("tara@x.de")]).toEqual([
      [false, true],
      [false, false],
    ]);
  });

  // Backtracking would take longer than the test may.
  test("a long row of escapes is read to its end", () => {
    expect(mentions(`\\${"u005c".repeat(100_000)}`)).toBe(false);
  });

  test("an address is found in JSON of any depth", () => {
    const depth = 200_000;
    const deep = `${"[".repeat(depth)}"ann.b\\u002b1@x-y.de"${"]".repeat(depth)}`;
    expect(mentions(deep)).toBe(true);
  });

  test.each(["", "ann", "@x.de", "ann@", "a@b@c", "ann @x.de", "ann@x.de,b@x.de", "<ann@x.de>", '"ann"@x.de'])(
    "the search for %j is refused, and the message does not contain it",
    (text) => {
      expect(() => createMentionsEmail(text)).toThrow("email must be one address, such as ann@example.com.");
    },
  );
});
