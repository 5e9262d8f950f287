import { describe, expect, test } from "vitest";
import {
  mentionedAddresses,
  type InspectedContactEvent,
  RecordedContactEvents,
  checkContactEvents,
  findLateRefusals,
} from "#pigeonhole/capture/tests/recorded-contact-events.js";
import { makeCapture } from "../support/captures.js";

const row = (more: Partial<InspectedContactEvent> = {}): InspectedContactEvent => ({
  seq: 1,
  name: "order.shipped",
  state: "done",
  attempts: 1,
  ...more,
});
const refused = row({ state: "dead", reason: "invalid_event", message: "The name is not known." });

describe("the contact events of a capture", () => {
  test.each<[string, Record<string, string> | undefined, InspectedContactEvent[] | undefined, string[]]>([
    ["sent", undefined, [row()], []],
    ["not looked at", { "order.shipped": "dead" }, undefined, []],
    ["waiting to be tried again", undefined, [row({ state: "pending" })], []],
    [
      "refused",
      undefined,
      [refused, { ...refused, seq: 2 }],
      [
        `The contact event order.shipped is dead: invalid_event: The name is not known. If that is intended, write "contactEvents": {"order.shipped":"dead"} into the capture's field expect.`,
      ],
    ],
    [
      "refused, with a message that has the code",
      undefined,
      [{ ...refused, message: "No such name (invalid_event)" }],
      [expect.stringMatching(/ is dead: No such name \(invalid_event\)\. If /) as string],
    ],
    ["refused, as the file expects", { "order.shipped": "dead" }, [refused], []],
    [
      "in another state than the file expects",
      { "order.shipped": "done" },
      [row({ state: "pending" })],
      ["The contact event order.shipped is pending, expected done."],
    ],
    [
      "of a name that every object has",
      undefined,
      [{ ...refused, name: "constructor" }],
      [expect.stringMatching(/constructor is dead/) as string],
    ],
    ["not recorded", { "order.shipped": "done" }, [], ["The contact event order.shipped was not recorded."]],
  ])("%s", (_, contactEvents, found, failures) => {
    expect(checkContactEvents(contactEvents === undefined ? {} : { contactEvents }, found)).toEqual(failures);
  });

  test("are named if they are refused after their case was judged", () => {
    const cases = [{ contactEvents: [row({ state: "pending" }), { ...refused, seq: 2 }] }, { contactEvents: null }];
    const found = [refused, { ...refused, seq: 2 }, { ...refused, seq: 3, name: "order.lost" }, row({ seq: 4 })];
    expect(findLateRefusals({ cases }, found)).toEqual([
      expect.stringContaining("After its case had ended: The contact event order.shipped is dead"),
      expect.stringContaining("After its case had ended: The contact event order.lost is dead"),
    ]);
  });

  test("are those that are new, once each was tried", async () => {
    const outbox = [row({ state: "pending", attempts: 0 })];
    const asked: number[] = [];
    const recorded = new RecordedContactEvents(async (after) => {
      asked.push(after);
      const found = outbox.filter(({ seq }) => seq > after);
      // Settled between two looks.
      for (const [index, one] of outbox.entries()) outbox[index] = { ...one, state: "done", attempts: 1 };
      return found;
    }, 60_000);
    expect(await recorded.take()).toEqual([row()]);
    outbox.push(row({ seq: 2, state: "running" }));
    expect(await recorded.take()).toEqual([row({ seq: 2 })]);
    expect(await recorded.take()).toEqual([]);
    expect(asked).toEqual([-1, -1, 1, 1, 2]);
  });
});

test("the addresses that captures mention are those of any text in their bodies, once each", () => {
  const captureOf = (value: unknown) => makeCapture({ body: JSON.stringify(value) });
  const captures = [
    captureOf({ from: "Ada <ada@b.example>", to: [{ email: "Bob.O'Hara+x@mail.b.example" }] }),
    captureOf({ text: "Write to ADA@b.example, or mailto:eve@c.example.", url: "http://d.example/@eve" }),
    makeCapture({ body: "ann@b.example" }),
  ];
  expect(mentionedAddresses(captures)).toEqual(["ada@b.example", "bob.o'hara+x@mail.b.example", "eve@c.example"]);
});

test("the addresses beside a megabyte without an @, such as an encoded file, are found at once", () => {
  const captures = [makeCapture({ body: JSON.stringify({ file: "a+/=".repeat(250_000), from: "ada@b.example" }) })];
  // A search that begins again at every character takes minutes.
  expect(mentionedAddresses(captures)).toEqual(["ada@b.example"]);
});
