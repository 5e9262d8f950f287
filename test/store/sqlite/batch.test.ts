import { expect, test } from "vitest";
import { BatchPacker } from "#pigeonhole/store/sqlite/batch.js";
import { newEvent } from "../conformance/new-event.js";

/** A batch of events with bodies of these lengths, each filled with its own number. */
function packBodies(lengths: readonly number[]): BatchPacker {
  const batch = new BatchPacker();
  for (const [index, length] of lengths.entries()) {
    batch.accept(newEvent(`evt_${index}`, { body: new Uint8Array(length).fill(index + 1) }), 1);
  }
  return batch;
}

test.each<[string, number[], number]>([
  ["fewer bytes than it has", [1, 2], 16],
  ["as many bytes", [8, 8], 16],
  ["no bytes", [], 16],
])("a spare buffer is used for %s", (_, lengths, size) => {
  const spare = new Uint8Array(size).fill(99).buffer;
  const joined = packBodies(lengths).joinBodies(spare);
  expect(joined.buffer).toBe(spare);
  expect([...joined]).toEqual(lengths.flatMap((length, index) => Array<number>(length).fill(index + 1)));
});

test.each<[string, number[], () => ArrayBuffer | undefined]>([
  ["there is none", [3], () => undefined],
  ["it is too small", [8, 9], () => new ArrayBuffer(16)],
  ["it has changed hands", [], movedBuffer],
])("a buffer of their own is made when %s", (_, lengths, makeSpare) => {
  const spare = makeSpare();
  const joined = packBodies(lengths).joinBodies(spare);
  expect(joined.buffer).not.toBe(spare);
  expect(joined.byteLength).toBe(lengths.reduce((sum, length) => sum + length, 0));
});

function movedBuffer(): ArrayBuffer {
  const buffer = new ArrayBuffer(16);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}
