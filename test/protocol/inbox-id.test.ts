import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SOURCE_NAME, eventIdOf, inboxIdOf, sourceNameOf } from "#pigeonhole/protocol/inbox-id.js";

const source = fc.oneof(fc.constant(""), fc.stringMatching(/^[A-Za-z0-9][\w.-]{0,39}$/));
const id = fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[a-z/]{1,6}$/));

test("source and id can be read from the id in the inbox, so no two events of different sources have the same", () => {
  fc.assert(
    fc.property(source, id, (name, given) => {
      expect(name).toMatch(SOURCE_NAME);
      const inboxId = inboxIdOf(name, given);
      expect([sourceNameOf(inboxId), eventIdOf(inboxId)]).toEqual([name, given]);
    }),
  );
});

test.each([
  ["", "evt_1", "evt_1"],
  ["acme", "evt_1", "acme/evt_1"],
  ["beta", "acme/evt_1", "beta/acme/evt_1"],
  ["", "acme/evt_1", "/acme/evt_1"],
])("of the source %j the id %s is %s", (name, given, expected) => {
  expect(inboxIdOf(name, given)).toBe(expected);
});

test.each(["a/b", "-a", ".", "a b", "ä", "a\n", "x".repeat(41), `whsec_${"a".repeat(43)}`])(
  "%j cannot name a source",
  (name) => {
    expect(name).not.toMatch(SOURCE_NAME);
  },
);
