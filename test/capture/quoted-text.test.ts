import { describe, expect, test } from "vitest";
import { replaceEscaped } from "#pigeonhole/capture/redact/escaped-words.js";
import { createFakeValues } from "#pigeonhole/capture/redact/fake-values.js";
import { finish, within } from "#pigeonhole/capture/redact/pieces.js";
import { hideQuotesIn } from "#pigeonhole/capture/redact/quoted-text.js";
import type { RedactionRules } from "#pigeonhole/capture/redact/redact-value.js";

const hideQuotesOf =
  (value: unknown, rules: RedactionRules) =>
  (text: string): string =>
    finish(hideQuotesIn([text], value, rules))[0] ?? "";

const value = { name: "Jane O'Connor", from: "jane@secret.example", city: "Malmö-Höör", orderId: "keep_1" };
const hide = hideQuotesOf(value, { fakes: createFakeValues(Buffer.from("a key of the test")), strict: false });
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a text that quotes a value", () => {
  test.each([
    ["joined words", "JaneOConnor"],
    ["joined words in small letters", "janeoconnor"],
    ["joined words in another order", "ConnorJane"],
    ["a word within others", "theuserjaneoconnor2"],
    ["an identifier", "user_jane_connor"],
    ["letters with accents of their own", "Malmö-Höör".normalize("NFD")],
    ["base64", base64("Jane O'Connor")],
    ["base64 of one word", base64("Jane")],
    ["base64 in a path", `/contacts/${base64("to: jane@secret.example")}/x`],
    ["base64 for URLs", Buffer.from("Malmö-Höör??>>").toString("base64url")],
    ["cut base64 of JSON", base64(JSON.stringify(value)).slice(0, 30)],
  ])("is shown without %s", (_, quote) => {
    const shown = hide(`No order keep_1 of ${quote} today`);
    expect(shown).toMatch(/^No order keep_1 of \S+ today$/);
    expect(shown).not.toContain(quote);
    expect(shown.normalize()).not.toMatch(/jane|connor|secret|malmö|höör|SmFuZ|amFuZ|TWFsb/i);
  });

  test.each(["TypeError: Cannot read properties of undefined", "at GET /v1/contacts/key_2Yx9aQ connect ECONNREFUSED"])(
    "keeps its other words: %s",
    (text) => {
      expect(hide(text)).toBe(text);
    },
  );

  const german = {
    name: "Jürgen Müller",
    email: "jörg@secret.example",
    asked: "Zo%C3%AB+R%f8d",
    friend: "Fabrício",
    raw: "Bj=C3=B6rn Zwe=\r\nig &Aring;berg",
  };
  const hideGerman = hideQuotesOf(german, { fakes: createFakeValues(Buffer.from("k")), strict: false });
  const utf8 = encodeURIComponent("Jürgen Müller");
  test.each([
    ["percent-encoding", utf8],
    ["percent-encoding in small letters", utf8.toLowerCase()],
    ["percent-encoding of a form", utf8.replace("%20", "+")],
    ["percent-encoding of all letters", [...Buffer.from("Jürgen")].map((byte) => `%${byte.toString(16)}`).join("")],
    ["percent-encoding twice", encodeURIComponent(utf8)],
    ["percent-encoding in Latin-1", "J%FCrgen%20M%FCller"],
    ["percent-encoding of an accent of its own", encodeURIComponent("Jürgen".normalize("NFD"))],
    ["percent-encoding that is cut", "J%C3%BCrgen%20M%C3%BCller%C3"],
    ["a percent-encoded address", encodeURIComponent("jörg@secret.example")],
    ["escapes of JSON", String.raw`J\u00fcrgen`],
    ["escapes of JSON in capitals", String.raw`J\u00FCRGEN`],
    ["escapes of JSON in JSON", String.raw`J\\u00fcrgen`],
    ["escapes of an accent of its own", String.raw`Ju\u0308rgen`],
    ["escapes of JavaScript", String.raw`J\u{fc}rgen`],
    ["escapes of Python", String.raw`J\xfcrgen`],
    ["escapes of bytes", String.raw`J\xc3\xbcrgen`],
    ["entities of HTML", "J&uuml;rgen"],
    ["decimal entities of HTML", "J&#252;rgen"],
    ["hexadecimal entities of HTML", "J&#xFC;rgen"],
    ["an address as entities of HTML", "j&ouml;rg&#64;secret.example"],
    ["entities of HTML that are escaped as such", "J&amp;#252;rgen&amp;uuml;"],
    ["entities of HTML in JSON", String.raw`J\u0026uuml;rgen`],
    ["percent-encoded entities of HTML", encodeURIComponent("J&#252;rgen")],
    ["quoted-printable", "J=C3=BCrgen"],
    ["quoted-printable in Latin-1", "J=FCrgen"],
    ["quoted-printable twice", "J=3DC3=3DBCrgen"],
    ["a percent-encoded word behind what may be quoted-printable", "=Fabr%C3%ADcio"],
    ["quoted-printable over two lines", "J=C3=\r\n=BCrg=\nen"],
    ["quoted-printable over two lines in JSON", String.raw`J=C3=BCr=\r\ngen`],
    ["a name that the value has as escapes", "Zoë"],
    ["a name that the value has in quoted-printable", "Björn"],
    ["a name that the value has over two lines", "Zweig"],
    ["a name that the value has as entities of HTML", "Åberg"],
    ["the same in Latin-1", "Rød"],
  ])("is shown without %s", (_, quote) => {
    const shown = hideGerman(`GET https://crm.test/search?q=${quote}&page=2 404`);
    expect(shown).toMatch(/^GET https:\/\/crm\.test\/search\?q=[Xx0%+.@\\{}&#;=\s-]+&page=2 404$/);
  });

  test("is shown without escapes in other alphabets", () => {
    const hideName = hideQuotesOf({ name: "山田太郎" }, { fakes: createFakeValues(Buffer.from("k")), strict: false });
    for (const quote of [encodeURIComponent("山田太郎"), String.raw`\u5c71\u7530\u592a\u90ce`])
      expect(hideName(`GET /people/${quote}/x`)).toMatch(/^GET \/people\/[X0%\\x]+\/x$/);
  });

  test.each([
    [{ name: "王伟" }, "用户王伟不存在", "用户xx不存在"],
    [{ name: "김철수" }, "김철수님을 찾을 수 없습니다", "xxx님을 찾을 수 없습니다"],
    [{ last: "山田", first: "太郎" }, "山田太郎様は存在しません", "xxxx様は存在しません"],
    [{ name: "山田 太郎" }, "error:山田太郎様は存在しません", "error:xxxx様は存在しません"],
    [{ last: "王", first: "伟" }, "用户王伟与李伟", "用户xx与李伟"],
    [{ name: "Bo Li" }, "用户Bo不存在", "用户Xx不存在"],
    [{ name: "มานี" }, "ไม่พบมานีในระบบ", "ไม่พบxxxxในระบบ"],
    [{ name: "サラ・李" }, "サラ李さん", "xxxさん"],
    [{ name: "王伟" }, "GET /u/%E7%8E%8B%E4%BC%9F%E4%B8%8D", "GET /u/%X0%0X%0X%X0%XX%0X%X0%X0%0X"],
    [{ name: "王伟" }, String.raw`no \u7528\u738b\u4f1f`, String.raw`no \x0000\x000x\x0x0x`],
    [{ name: "Jo An" }, "jo is another word than join or banana", "xx is another word than join or banana"],
  ])("in scripts without spaces, and no other letters: %j", (names, text, shown) => {
    expect(hideQuotesOf(names, { fakes: createFakeValues(Buffer.from("k")), strict: false })(text)).toBe(shown);
  });

  const hidePhoneIn = (phone: string, text: string) =>
    hideQuotesOf({ phone }, { fakes: createFakeValues(Buffer.from("k")), strict: false })(text);

  test.each([
    ["+33612345678", "06 12 34 56 78", "00 00 00 00 00"],
    ["+33612345678", "+33 (0)6.12.34.56.78", "+33 (0)0.00.00.00.00"],
    ["+33612345678", "0033612345678", "0000000000000"],
    ["+33612345678", "tel:06-12-34-56-78;", "tel:00-00-00-00-00;"],
    ["06 12 34 56 78", "+33612345678", "+33000000000"],
    ["+1 415 555 2671", "(415)5552671", "(000)0000000"],
    ["+14155552671", "+1 415 555 2671", "+0 000 000 0000"],
    ["call +49 89 / 123 456 78 at noon", "(089)12345678", "(000)00000000"],
    ["+33612345678", "06%2012%2034%2056%2078", "00%0000%0000%0000%0000"],
  ])("with other groups of its digits: %s is not in %s", (phone, quote, shown) => {
    expect(hidePhoneIn(phone, `E42 at 2026-11-23: no customer with ${quote} in 3 tries`)).toBe(
      `E42 at 2026-11-23: no customer with ${shown} in 3 tries`,
    );
  });

  test.each(["of 2026-11-23 in 1543 ms", "id 55512367", "7 33 6 1 at 12:34:56.78", "567 then 812"])(
    "keeps numbers that are not those of the value: %s",
    (text) => {
      expect(hidePhoneIn("+33612345678", text)).toBe(text);
    },
  );

  test.each([
    ["Hans Großmann", "HANS GROSSMANN"],
    ["Hans Großmann", "HANS GROẞMANN"],
    ["HANS GROSSMANN", "Großmann, Hans"],
    ["Σωκράτης Παππάς", "ΣΩΚΡΆΤΗΣ"],
    ["İbrahim Öz", "ibrahim Öz"],
    ["Straße 7 in 8", "STRASSE 7 IN 8"],
  ])("in any case of letters: %s is not in %s", (name, quote) => {
    const hideName = hideQuotesOf({ name }, { fakes: createFakeValues(Buffer.from("k")), strict: false });
    expect(hideName(`Maße of ${quote} 42`)).toMatch(/^Maße of [Xx0, ]+ 42$/);
  });

  test.each([
    "GET /p?q=caf%C3%A9%20cr%C3%A8me",
    String.raw`unexpected "\u00e9\u{110000}"`,
    "100%be %zz 5%",
    "caf&eacute; &amp; cr=C3=A8me=\n=",
    "at ip=40.1.2.3, size=4096.5, id=beef &#9999999;",
  ])("keeps escapes of what the value does not have: %s", (text) => {
    expect(hideGerman(text)).toBe(text);
  });

  test.each([
    ["backslashes", `${"\\".repeat(200_000)}%41`],
    ["letters", `${"a".repeat(200_000)}%41`],
    ["percent signs", "%25".repeat(70_000)],
    ["half escapes", "\\u00f%4&#=C".repeat(30_000)],
    ["entities", "&amp;".repeat(40_000)],
    ["ends of lines", "a=\n".repeat(70_000)],
  ])("has its escapes read in time in proportion to its length: %s", (_, text) => {
    const startedAt = performance.now();
    replaceEscaped(text, (_run, says) => says);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("is read in time, however much there is to quote", () => {
    const many = Array.from({ length: 2_000 }, (_each, index) => `Person ${index.toString(36)} Lastname${index}`);
    const hideMany = hideQuotesOf(many, { fakes: createFakeValues(Buffer.from("k")), strict: false });
    const startedAt = performance.now();
    hideMany("abcdefghijk ".repeat(350) + "z".repeat(4_000));
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  describe("is compared with a large value", () => {
    const addressesOf = (count: number) =>
      Array.from({ length: count }, (_, index) => `p${index}@h${7 * index}.example`);
    const rules = { fakes: createFakeValues(Buffer.from("k")), strict: false };
    const piecesFor = (texts: string[], many: unknown): number[] => [...hideQuotesIn(texts, many, rules)];
    const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);
    const quote = JSON.stringify(addressesOf(5_400)).slice(5_000, 7_000);

    test.each([
      ["one that quotes it", quote],
      ["ordinary words", "Cannot read properties of undefined. ".repeat(50)],
      ["one long word", "p".repeat(8_000)],
      ["digits", "1234567 89-".repeat(700)],
      ["nothing but slashes", "ab/".repeat(2_600)],
    ])("in small pieces, as many as it is long: %s", (_, text) => {
      const pieces = piecesFor([text], addressesOf(5_400));
      // A piece, and the text that filled it.
      expect(Math.max(...pieces)).toBeLessThan(4_096 + 8_192);
      expect(sum(pieces)).toBeLessThan(2.2 * sum(piecesFor([text], addressesOf(2_700))));
      expect(
        sum(piecesFor([text, ...Array.from({ length: 9 }, (_each, index) => `Error ${index}`)], addressesOf(5_400))),
      ).toBeLessThan(1.1 * sum(pieces));
    });

    test("in small pieces where it has many names and no spaces", () => {
      const many = Array.from(
        { length: 2_000 },
        (_, index) => `王${"伟".repeat(index % 39)}${String.fromCodePoint(0x4e00 + index)}`,
      );
      const [half, whole] = [4_000, 8_000].map((length) => piecesFor(["王".repeat(length)], many));
      expect(Math.max(...(whole ?? []))).toBeLessThan(4_096 + 8_192);
      expect(sum(whole ?? [])).toBeLessThan(2.2 * sum(half ?? []));
      expect(sum(whole ?? [])).toBeLessThan(700_000);
    });

    test.each(["\\", "%41", "\\u0041 ", "%", "ab %C3", "&amp;", "&#65; ", "=C3=", "a=\n"])(
      "also where its text is %j again and again",
      (part) => {
        const pieces = piecesFor(["Error: no Jane of xyz"], [part.repeat(100_000 / part.length), "Jane"]);
        expect(sum(pieces)).toBeLessThan(700_000);
      },
    );

    test("without a stand-in for what it does not quote", () => {
      let made = 0;
      const fakes = { ...rules.fakes, address: () => `p-${(made += 1)}` };
      hideQuotesOf(addressesOf(1_000), { fakes, strict: false })(`no ${addressesOf(3).join(" ")}`);
      expect(made).toBe(3);
    });

    test("and not at all when that takes more than is allowed", () => {
      const most = sum(piecesFor([quote], addressesOf(1_000)));
      const pieces = within(most - 1, hideQuotesIn([quote], addressesOf(1_000), rules));
      let step = pieces.next();
      while (step.done !== true) step = pieces.next();
      expect(step.value).toBeUndefined();
    });

    test("however deep it is", () => {
      const deep = Array.from({ length: 20_000 }).reduce<unknown>((inner) => [inner], "Jane");
      expect(hideQuotesOf(deep, rules)("no Jane")).toBe("no Xxxx");
    });
  });
});
