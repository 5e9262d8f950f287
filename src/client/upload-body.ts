import { PigeonholeError } from "../base/error.js";
import type { ApiExchange } from "./api-exchange.js";

/** What an upload takes: bytes, a Blob such as that of `fs.openAsBlob`, or a stream of bytes, Node's included. */
export type UploadData = Uint8Array | Blob | AsyncIterable<Uint8Array>;

/** Most bytes that are sent in one stretch. */
const CHUNK_BYTES = 256 * 1024;

/** True for something that can be uploaded. */
export function isUploadData(data: unknown): data is UploadData {
  if (data instanceof Uint8Array || data instanceof Blob) return true;
  return typeof data === "object" && data !== null && Symbol.asyncIterator in data;
}

/** How many bytes it has; undefined for a stream. */
export function sizeOfUpload(data: UploadData): number | undefined {
  if (data instanceof Uint8Array) return data.byteLength;
  return data instanceof Blob ? data.size : undefined;
}

/**
 * The body of an upload, read as it is sent and never copied: fetch would copy bytes that are passed as they are. While
 * the source is waited for, the time-out of the exchange does not run.
 */
export class UploadBody {
  /** For fetch. */
  readonly stream: ReadableStream<Uint8Array>;
  readonly #source: AsyncIterator<Uint8Array>;
  #failure: { error: unknown } | undefined;
  #sent = 0;
  /** What is left of the last chunk of the source. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor({ call, data, maxBytes, exchange }: UploadBodyInput) {
    this.#source = chunksOf(data)[Symbol.asyncIterator]();
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          exchange.pause();
          const chunk = await this.#read(call, maxBytes);
          exchange.beginStretch();
          if (chunk === undefined) controller.close();
          else controller.enqueue(chunk);
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Why it could not be read to its end: the error of the source itself, or that it has too many bytes. */
  get failure(): { error: unknown } | undefined {
    return this.#failure;
  }

  /** The next bytes, which are sent in the time of one stretch however large the chunks of the source are. */
  async #read(call: string, maxBytes: number): Promise<Uint8Array | undefined> {
    try {
      while (this.#rest.byteLength === 0) {
        const next = await this.#source.next();
        if (next.done === true) return undefined;
        if (!(next.value instanceof Uint8Array)) throw brokenOff(call, "the stream gave something else than bytes");
        this.#sent += next.value.byteLength;
        if (this.#sent > maxBytes) throw brokenOff(call, `the stream has more than ${maxBytes} bytes`);
        this.#rest = next.value;
      }
      const part = this.#rest.subarray(0, CHUNK_BYTES);
      this.#rest = this.#rest.subarray(part.byteLength);
      return part;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  /** The source is not read any more. fetch does not say so when it is aborted. */
  close(): void {
    // A source that cannot be closed is done with all the same.
    this.#source.return?.().then(undefined, () => {});
  }
}

interface UploadBodyInput {
  /** Name of the call, for errors. */
  call: string;
  data: UploadData;
  maxBytes: number;
  exchange: ApiExchange;
}

function chunksOf(data: UploadData): AsyncIterable<Uint8Array> {
  if (data instanceof Blob) return data.stream();
  return data instanceof Uint8Array ? onlyChunk(data) : data;
}

async function* onlyChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

function brokenOff(call: string, what: string): PigeonholeError {
  return new PigeonholeError("invalid_argument", `${call} was broken off, and nothing was stored: ${what}.`);
}
