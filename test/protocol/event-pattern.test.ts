import { createReceiver } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { readMatcher } from "#pigeonhole/capture/query/query-fields.js";
import { wantedEndpoint } from "#pigeonhole/cli/values/parse-option.js";
import { createForwardRules } from "#pigeonhole/dev/forward/forward-rules.js";
import {
  checkPattern,
  isPattern,
  matchesPattern,
  parsePatterns,
  typesMatching,
} from "#pigeonhole/protocol/event-pattern.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { parseEvents } from "#pigeonhole/scaffold/project/event-names.js";

const GOOD = ["*", "email.*", "email.received", "domain.sending_changed", "order.line.*", "order-2.paid", "email"];
const BAD = [
  "",
  " ",
  "a b",
  ..."*.sent email* e*.sent ** email.** .* . email. .sent email..sent email.sent!".split(" "),
];

test.each(GOOD)("the text %j is a pattern", (text) => {
  expect(isPattern(text)).toBe(true);
  expect(() => checkPattern(text, "types")).not.toThrow();
});

describe.each(BAD)("%j is not a pattern", (text) => {
  test(`the text ${JSON.stringify(text)} is refused, and the error says what to write`, () => {
    expect(isPattern(text)).toBe(false);
    const kind = /^types: ".*" is not an event type; write one such as email\.received/;
    const refused = { code: "invalid_option", message: expect.stringMatching(kind) as string };
    expect(() => checkPattern(text, "types")).toThrow(expect.objectContaining(refused));
  });

  test(`the text ${JSON.stringify(text)} is refused in every place that takes patterns`, () => {
    const receiver = createReceiver({ secrets: `whsec_${"a".repeat(43)}`, store: ":memory:", clock: fakeClock() });
    const sandbox = createSandbox({ clock: "manual" });
    const rule = { fault: { kind: "drop" as const }, types: text };
    const places = [
      () => receiver.on(text as "email.sent", () => undefined),
      () => sandbox.faults.deliveries.add(rule),
      () => sandbox.faults.api.add({ fault: { kind: "no_answer", executed: false }, calls: text }),
      () => sandbox.deliveries({ type: text }),
      () => createForwardRules([{ types: text, target: "3000" }], { allowRemote: false }),
      () => parsePatterns(text, "events"),
      () => parseEvents(text),
    ];
    for (const place of places)
      expect(place).toThrow(expect.objectContaining({ code: expect.stringMatching(/^invalid_/) as string }));
  });
});

test.each<[pattern: string, name: string, matches: boolean]>([
  ["*", "email.sent", true],
  ["email.sent", "email.sent", true],
  ["email.sent", "email.sent.late", false],
  ["email.sent", "email.send", false],
  ["email.*", "email.sent", true],
  ["email.*", "email.sent.late", true],
  ["email.*", "emails.sent", false],
  ["email.*", "email", false],
  ["email.*", "Email.sent", false],
  ["*.sent", "email.sent", false],
  ["contactEvents.*", "contactEvents.sendBatch", true],
])("the pattern %j matches %j: %j", (pattern, name, matches) => {
  expect(matchesPattern(pattern, name)).toBe(matches);
});

test("a list matches what one of its patterns matches, and only * matches the type of an unreadable delivery", () => {
  const matches = parsePatterns("email.sent, form.*", "events");
  expect(["email.sent", "form.submitted", "email.received", null].map(matches)).toEqual([true, true, false, false]);
  expect(parsePatterns("form.*,*", "events")(null)).toBe(true);
});

test("the word all selects every type, in the order of the service's list", () => {
  expect(typesMatching("all")).toEqual([...EVENT_TYPES]);
  expect(typesMatching("*")).toEqual([...EVENT_TYPES]);
  expect(typesMatching("form.*")).toEqual(["form.submitted", "form.confirmed"]);
  expect(typesMatching("email.lost")).toEqual([]);
});

const selecting = ["*", "email.*", "form.*", "email.received"];
test.each(selecting)("the pattern %j selects the same types in every place", (pattern) => {
  const found = EVENT_TYPES.filter((type) => matchesPattern(pattern, type));
  expect(found.length).toBeGreaterThan(0);
  expect(EVENT_TYPES.filter(parsePatterns(pattern, "events"))).toEqual(found);
  expect(parseEvents(pattern)).toEqual(found);
  expect(wantedEndpoint(`http://127.0.0.1:1/=${pattern}`).eventTypes).toEqual(found);
  const search = readMatcher("type", pattern);
  expect(search.ok && EVENT_TYPES.filter((type) => search.matches({ event: { type } } as never, 0))).toEqual(found);
});
