import { expect, test } from "vitest";
import type { Pieces } from "#pigeonhole/capture/redact/pieces.js";
import { LoopShare } from "#pigeonhole/dashboard/loop-share.js";
import type { EventBytes } from "#pigeonhole/dashboard/personal-data.js";
import { SearchablePayloads } from "#pigeonhole/dashboard/searchable-payloads.js";

/** Payloads whose redaction replaces Eve; `redacted` has the texts in the order of their redaction. */
function startSearch(mostKept?: number) {
  const redacted: string[] = [];
  const personal = {
    *redacted({ body }: EventBytes): Pieces<string> {
      const text = Buffer.from(body).toString();
      redacted.push(text);
      yield text.length;
      return text.replaceAll("Eve", "xxx");
    },
  };
  const payloads = new SearchablePayloads({ personal, share: new LoopShare(), ...(mostKept && { mostKept }) });
  const { signal } = new AbortController();
  return {
    redacted,
    holds: (text: string, sought: string) =>
      payloads.holds({ id: "e1", type: "t", receivedAt: 0, body: Buffer.from(text) }, sought, signal),
  };
}

test("a payload is redacted once for all searches, and searched without what is redacted", async () => {
  const { redacted, holds } = startSearch();
  const searches = [holds("Dear Eve", "dear"), holds("Dear Eve", " DEAR x"), holds("Dear Eve", "eve")];
  expect(await Promise.all(searches)).toEqual([true, true, false]);
  expect(await holds("Dear Eve", "Evening")).toBe(false);
  expect(redacted).toEqual(["Dear Eve"]);
});

test("a search looks into the body that there is, not into one that the event had before", async () => {
  const { holds } = startSearch();
  expect(await holds("first", "first")).toBe(true);
  expect(await holds("second", "first")).toBe(false);
});

test("those payloads are kept that were looked at last, up to so many characters", async () => {
  const { redacted, holds } = startSearch(300);
  const [a, b, c] = ["a", "b", "c"].map((letter) => letter.repeat(80));
  for (const text of [a, b, a, c, a, b]) expect(await holds(text ?? "", "z")).toBe(false);
  expect(redacted).toEqual([a, b, c, b]);
  // One that is larger than all room does not stay, and leaves room.
  const large = "l".repeat(400);
  for (const text of [large, large, a, a]) await holds(text ?? "", "z");
  expect(redacted).toEqual([a, b, c, b, large, large, a]);
});
