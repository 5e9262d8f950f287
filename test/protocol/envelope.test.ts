import { expect, test } from "vitest";
import { envelopeSchema, isEnvelope } from "#pigeonhole/protocol/envelope.js";

const FITTING = { id: "evt_1", type: "email.sent", createdAt: "2026-11-22T20:00:00.000Z", data: {} };

/** Values of one field: the edges of its rule, and what JSON can hold besides. */
const VALUES: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  1.5,
  [],
  ["evt_1"],
  {},
  { test: true },
  "",
  " ",
  "a",
  "a\n",
  "\u{1f54a}".repeat(255),
  "\u{1f54a}".repeat(256),
  "e".repeat(255),
  "e".repeat(256),
  "e".repeat(511),
  "half \ud83d",
  "\udd4a half",
  "2026-11-22T20:00:00Z",
  "2026-11-22T20:00:00",
  "2026-11-22T20:00Z",
  "2026-11-22 20:00:00Z",
  "2026-11-22T20:00:00.123456789+01:00",
  "2026-11-22T20:00:00+0100",
  "2026-11-22T20:00:00-24:00",
  "2026-02-29T20:00:00Z",
  "2028-02-29T20:00:00Z",
  "2026-13-01T20:00:00Z",
  "2026-11-22T24:00:00Z",
  "2026-11-22T20:00:00Z\n",
  "2026-11-22t20:00:00z",
];

test.each(["id", "type", "createdAt", "data"])(
  "the check of an envelope accepts what its schema accepts: values of %s",
  (field) => {
    const accepts = (isAccepted: (value: unknown) => boolean): unknown[] =>
      VALUES.filter((value) => isAccepted({ ...FITTING, [field]: value }));
    const bySchema = accepts((value) => envelopeSchema().safeParse(value).success);
    expect(bySchema).not.toHaveLength(0);
    expect(accepts(isEnvelope)).toEqual(bySchema);
  },
);

test.each<[string, unknown]>([
  ["null", null],
  ["a number", 1],
  ["a text", "text"],
  ["a list", [FITTING]],
  ["an empty object", {}],
  ["all fields", FITTING],
  ["a further field", { ...FITTING, version: 2 }],
  ["another order", Object.fromEntries(Object.entries(FITTING).toReversed())],
])("the check of an envelope agrees with its schema on %s", (_, value) => {
  expect(isEnvelope(value)).toBe(envelopeSchema().safeParse(value).success);
});
