import { parseTimestamp } from "#pigeonhole/protocol/timestamp.js";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

describe("parseTimestamp", () => {
  test.each([
    ["0", 0],
    ["1700000000", 1_700_000_000_000],
    ["99999999999", 99_999_999_999_000],
    ["100000000000", 100_000_000_000],
    ["1700000000123", 1_700_000_000_123],
    ["99999999999999", 99_999_999_999_999],
    ["2023-11-14T22:13:20Z", 1_700_000_000_000],
    ["2023-11-14T22:13:20.5Z", 1_700_000_000_500],
    ["2023-11-14T22:13:20.123456789Z", 1_700_000_000_123],
    ["2023-11-14T23:43:20+01:30", 1_700_000_000_000],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
  ])("parseTimestamp reads the text %s", (text, ms) => {
    expect(parseTimestamp(text)).toBe(ms);
  });

  test.each([
    "",
    "100000000000000",
    "1700000000123456",
    "-1700000000",
    "1700000000.0",
    "1700000000 ",
    "١٧٠٠",
    "17000000\u00002",
    "1700000000, 1700000000",
    "2023-11-14",
    "2023-11-14T22:13:20",
    "2023-11-14 22:13:20Z",
    "2023-11-14T22:13Z",
    "2023-11-14T22:13:20z",
    "2023-02-29T00:00:00Z",
    "2023-04-31T00:00:00Z",
    "2023-13-01T00:00:00Z",
    "2023-00-01T00:00:00Z",
    "2023-01-00T00:00:00Z",
    "2023-01-01T24:00:00Z",
    "2023-01-01T23:60:00Z",
    "2023-01-01T23:59:60Z",
    "2023-01-01T00:00:00+24:00",
    "2023-01-01T00:00:00+0100",
    "2023-01-01T00:00:00.Z",
    "2023-01-01T00:00:00.1234567890Z",
    "+002023-01-01T00:00:00Z",
    "Tue, 14 Nov 2023 22:13:20 GMT",
  ])("parseTimestamp refuses %j", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  test("parseTimestamp reads every date that JavaScript writes in four-digit years", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), (ms) => {
        expect(parseTimestamp(new Date(ms).toISOString())).toBe(ms);
      }),
    );
  });
});
