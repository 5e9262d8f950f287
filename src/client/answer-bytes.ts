import { PigeonholeError } from "../base/error.js";
import { NoAnswerError } from "./errors.js";
import type { ApiExchange } from "./api-exchange.js";

/** The bytes of an answer, read once and in order. Each read has the time-out of a stretch. */
export class AnswerBytes {
  /** Number of bytes by the answer's Content-Length; undefined without one, and for an answer that was compressed. */
  readonly sizeBytes: number | undefined;
  readonly #call: string;
  readonly #exchange: ApiExchange;
  readonly #body: ReadableStream<Uint8Array> | null;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #read = 0;
  /** True when nothing else has the chunks. */
  readonly #isOurs: boolean;

  constructor({ call, response, exchange }: { call: string; response: Response; exchange: ApiExchange }) {
    this.#call = call;
    this.#exchange = exchange;
    this.#body = response.body;
    this.#isOurs = isByteStream(this.#body);
    this.sizeBytes = readSize(response.headers);
  }

  /** To be called before the first read. Throws `invalid_argument` the second time, when the bytes are gone. */
  begin(): void {
    if (this.#reader !== undefined) {
      throw new PigeonholeError("invalid_argument", `${this.#call}: the bytes can be read only once; call it again.`);
    }
    this.#reader = this.#openReader();
  }

  /** The next bytes; undefined at the end. Rejects with NoAnswerError, or with the reason of the call's signal. */
  async next(): Promise<Uint8Array | undefined> {
    const reader = this.#reader;
    if (reader === undefined) return undefined;
    try {
      const next = await this.#exchange.run(() => reader.read());
      if (next.done) return this.#finish();
      this.#read += next.value.byteLength;
      return next.value;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Frees a chunk that is done with: in a large file, many would wait for the garbage collector. */
  release({ buffer, byteOffset, byteLength }: Uint8Array): void {
    countForCollector(buffer, byteOffset, byteLength);
    // Node 20 has no transfer.
    if (this.#isOurs && "transfer" in buffer) (buffer as { transfer(bytes: number): unknown }).transfer(0);
  }

  /** Closes the connection; what is left of the answer cannot be read. */
  close(): void {
    this.#exchange.end();
    this.#reader ??= this.#openReader();
    // An error of the connection is of no use now.
    this.#reader.cancel().catch(() => {});
  }

  #openReader(): ReadableStreamDefaultReader<Uint8Array> {
    return (this.#body ?? new Blob([]).stream()).getReader();
  }

  #finish(): undefined {
    this.#exchange.end();
    if (this.sizeBytes === undefined || this.#read === this.sizeBytes) return;
    const message = `the answer has ${this.#read} bytes instead of ${this.sizeBytes}`;
    throw new NoAnswerError({ call: this.#call, reason: "connection", mayHaveArrived: true, message });
  }
}

/**
 * Node reads a connection into new memory outside of V8's heap. Only the garbage collector frees it, and it hardly
 * makes that run: 100 MB could pile up. Strings on the heap, of twice the size, make it run after each 8 MB or so.
 * They cost about 2 ms of CPU for a MB.
 */
function countForCollector(buffer: ArrayBufferLike, byteOffset: number, byteLength: number): void {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let copies = 0; copies < 2; copies += 1) bytes.toString("latin1");
}

/** A stream of bytes gives its chunks away; one of another kind, of a `fetch` of the user's own, may still use them. */
function isByteStream(body: ReadableStream<Uint8Array> | null): boolean {
  try {
    body?.getReader({ mode: "byob" }).releaseLock();
    return body !== null;
  } catch {
    return false;
  }
}

/** fetch decodes what a proxy compressed; Content-Length counts the bytes before that. */
function readSize(headers: Headers): number | undefined {
  const encoding = headers.get("content-encoding") ?? "identity";
  const length = headers.get("content-length") ?? "";
  return encoding.toLowerCase() === "identity" && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
