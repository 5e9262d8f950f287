import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";

const SIZE = 5_000_000;

const rows = Array.from({ length: 45_000 }, (_, n) => ({
  id: n,
  name: `the row with the number ${n}`,
  tags: ["a", "b"],
  ok: true,
  at: { x: n },
}));

/** Bodies of 5 MB, by what is in them. */
export const LARGE_BODIES: Readonly<Record<string, string | Uint8Array>> = {
  "many values": JSON.stringify(sampleEvent("email.received", { rows })),
  "one text": JSON.stringify(sampleEvent("email.received", { text: "a word and ".repeat(SIZE / 11) })),
  numbers: `[${"1,".repeat(SIZE / 2)}1]`,
  "short lists": `[${"[1],".repeat(SIZE / 4)}[1]]`,
  "short names": `{${Array.from({ length: SIZE / 13 }, (_, n) => `"n${n}":${n % 10}`).join()}}`,
  "long names": `{${Array.from({ length: 50 }, (_, n) => `"${`a name of ${n} `.repeat(SIZE / 650)}":${n}`).join()}}`,
  "deep lists": `${"[".repeat(SIZE / 2)}${"]".repeat(SIZE / 2)}`,
  "a text of escapes": JSON.stringify(sampleEvent("email.received", { text: '\u0001"\\\n'.repeat(SIZE / 12) })),
  "many values without the end": JSON.stringify(rows).slice(0, -1),
  "lines that are not JSON": "a line of plain text, with no end in sight\n".repeat(SIZE / 43),
  "one line that is not JSON": "x".repeat(SIZE),
  "bytes that are not UTF-8": Buffer.alloc(SIZE, 0xff),
};

/** A capture of each, so that the list has them in the same order. */
export function captureLargeBodies(): Capture[] {
  const now = Date.now();
  return Object.values(LARGE_BODIES).map((body, n) =>
    captureRequest({
      request: { method: "POST", path: "/webhooks", headers: [], body: Buffer.from(body) },
      receivedAt: now - n * 1000,
      source: "live",
      secrets: [],
    }),
  );
}
