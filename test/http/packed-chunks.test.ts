import { expect, test } from "vitest";
import { systemClock } from "#pigeonhole/base/clock.js";
import { CHUNK_OVERHEAD_BYTES, PackedChunks } from "#pigeonhole/http/packed-chunks.js";
import type { BodyRoom } from "#pigeonhole/http/delivery-request.js";
import { Admission } from "#pigeonhole/receiver/admission.js";

const ROOM = 1_000_000;

/** The room of a delivery that leaves in the next turn. */
function admit(admission: Admission, announced: number): BodyRoom {
  const rooms: BodyRoom[] = [];
  void admission.admit(announced, (admitted) => {
    rooms.push(admitted);
    return Promise.resolve({ kind: "stopping" });
  });
  return rooms[0] ?? expect.fail("not admitted");
}

function pack(sizes: number[], { announced = Number.NaN, bodiesBytes = ROOM } = {}) {
  const admission = new Admission(
    { maxBodyBytes: ROOM, bodyTimeoutMs: 1_000, bodiesBytes, highWaterMark: 10, accepts: true },
    systemClock,
  );
  const room = admit(admission, announced);
  const chunks = new PackedChunks(room);
  let next = 0;
  for (const [index, size] of sizes.entries()) {
    const refused = chunks.add(Uint8Array.from({ length: size }, () => (next += 1)));
    if (refused !== undefined) return { refused, at: index };
  }
  const body = Buffer.from(chunks.join());
  return { body, kept: chunks.kept.length, taken: bodiesBytes - admission.freeBytes };
}

const counting = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, index) => index + 1));
const BLOCK = 8_192 + CHUNK_OVERHEAD_BYTES;
const times = (count: number, size: number): number[] => Array.from({ length: count }, () => size);

test.each<[string, number[], { kept: number; taken: number }]>([
  ["none", [], { kept: 0, taken: 0 }],
  ["one of a byte", [1], { kept: 1, taken: BLOCK }],
  ["as many of a byte as a block holds", times(8_192, 1), { kept: 1, taken: BLOCK }],
  ["one more", times(8_193, 1), { kept: 2, taken: 2 * BLOCK }],
  ["small ones that do not fill a block to its end", times(9, 1_000), { kept: 2, taken: 2 * BLOCK }],
  ["a large one", [2_048], { kept: 1, taken: 2_048 + CHUNK_OVERHEAD_BYTES }],
  [
    "a small one between large ones",
    [5_000, 2_047, 3_000],
    { kept: 3, taken: 8_000 + 2 * CHUNK_OVERHEAD_BYTES + BLOCK },
  ],
  ["empty ones", times(3, 0), { kept: 1, taken: BLOCK }],
])("packing chunks (%s) loses nothing and counts all the memory that they use", (_, sizes, expected) => {
  const length = sizes.reduce((sum, size) => sum + size, 0);
  expect(pack(sizes)).toEqual({ body: counting(length), ...expected });
});

test("the packer counts the bytes and the chunks of a short body", () => {
  const sizes = [10, 3_000, 1];
  expect(pack(sizes, { announced: 3_011 })).toEqual({
    body: counting(3_011),
    kept: 3,
    taken: 3_011 + 3 * CHUNK_OVERHEAD_BYTES,
  });
  expect(pack(sizes, { announced: 3_011, bodiesBytes: 3_011 + 2 * CHUNK_OVERHEAD_BYTES })).toEqual({
    refused: "overloaded",
    at: 2,
  });
});
