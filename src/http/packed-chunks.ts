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
  /** In order: large chunks as they are, and full blocks of small ones. */
  readonly kept: Uint8Array[] = [];
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

  /** Takes a chunk. Returns why the body cannot be taken, if so. */
  add(chunk: Uint8Array): "too_large" | "overloaded" | undefined {
    const { byteLength } = chunk;
    this.#length += byteLength;
    if (this.#length > this.#room.maxBytes) return "too_large";
    if (!this.#room.isLong || byteLength >= SMALL_CHUNK_BYTES) {
      if (!this.#room.take(byteLength + CHUNK_OVERHEAD_BYTES)) return "overloaded";
      this.#endBlock();
      this.kept.push(chunk);
      return undefined;
    }
    if (this.#used + byteLength > BLOCK_BYTES) this.#endBlock();
    if (this.#block === undefined) {
      if (!this.#room.take(BLOCK_BYTES + CHUNK_OVERHEAD_BYTES)) return "overloaded";
      // Not from the pool, whose memory would be kept as long as the block.
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    }
    this.#block.set(chunk, this.#used);
    this.#used += byteLength;
    return undefined;
  }

  /** The body; call it once, at its end. */
  join(): Uint8Array {
    this.#endBlock();
    const [first] = this.kept;
    return first !== undefined && this.kept.length === 1 ? first : Buffer.concat(this.kept);
  }

  #endBlock(): void {
    if (this.#block === undefined) return;
    this.kept.push(this.#block.subarray(0, this.#used));
    this.#block = undefined;
    this.#used = 0;
  }
}
