import type { BodyRoom } from "./delivery-request.js";

/**
 * Memory of a chunk besides its bytes, measured on Node 20 to 26: its Buffer, the backing store, its place in a list.
 */
export const CHUNK_OVERHEAD_BYTES = 640;

/** A chunk of fewer bytes is small. */
const SMALL_CHUNK_BYTES = 2 * 1024;

/** Small chunks are copied together into blocks of this size. */
const BLOCK_BYTES = 8 * 1024;

/** A body that is being received. What is kept of it is counted with its memory besides the bytes. */
export class PackedChunks {
  readonly #room: BodyRoom;
  #length = 0;
  #block: Buffer | undefined;
  /** Bytes of the block that hold something. */
  #used = 0;

  constructor(room: BodyRoom) {
    this.#room = room;
  }

  /** Bytes received. */
  get length(): number {
    return this.#length;
  }

  /** Takes a chunk. Returns what is to be kept as it is from now on, in order, or why the body cannot be taken. */
  add(chunk: Uint8Array): Uint8Array[] | "too_large" | "overloaded" {
    const { byteLength } = chunk;
    this.#length += byteLength;
    if (this.#length > this.#room.maxBytes) return "too_large";
    if (!this.#room.isLong || byteLength >= SMALL_CHUNK_BYTES) {
      return this.#room.take(byteLength + CHUNK_OVERHEAD_BYTES) ? [...this.rest(), chunk] : "overloaded";
    }
    const full = this.#used + byteLength > BLOCK_BYTES ? this.rest() : [];
    if (this.#block === undefined) {
      if (!this.#room.take(BLOCK_BYTES + CHUNK_OVERHEAD_BYTES)) return "overloaded";
      // Not from the pool, whose memory would be kept as long as the block.
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    }
    this.#block.set(chunk, this.#used);
    this.#used += byteLength;
    return full;
  }

  /** What is still to be kept. */
  rest(): Uint8Array[] {
    if (this.#block === undefined) return [];
    const rest = this.#block.subarray(0, this.#used);
    this.#block = undefined;
    this.#used = 0;
    return [rest];
  }
}
