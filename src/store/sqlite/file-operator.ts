import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import type { InboxOperator } from "../inbox-operator.js";
import { openInboxFile } from "./open-inbox-file.js";
import { type OperatorCall, callOperator } from "./operator-in-thread.js";
import { asStoreError } from "./store-error.js";

/** Operates on a file through one connection, opened by the first call. */
export class FileOperator {
  readonly #file: string;
  #inbox: Promise<InboxOperator> | undefined;
  /** The caller's time of the last call. */
  #calledAt = 0;
  #ends = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Rejects also with what opening the file rejects with. */
  async call(given: Omit<OperatorCall, "id">): Promise<unknown> {
    this.#calledAt = given.now;
    const ends = this.#ends;
    try {
      return await callOperator(await this.#opened(), given);
    } catch (error) {
      if (ends !== this.#ends) throw new PigeonholeError("stopped", "The store is closed.", { cause: error });
      throw asStoreError(error, `reading ${this.#file}`);
    }
  }

  /** Closes the connection; the next call opens the file that is at the path then. */
  async end(): Promise<void> {
    const inbox = this.#inbox;
    this.#inbox = undefined;
    this.#ends += 1;
    await inbox?.then((operator) => operator.close()).catch(() => undefined);
  }

  /** A file that could not be opened is tried again with the next call: it may have been put back. */
  async #opened(): Promise<InboxOperator> {
    const opening = (this.#inbox ??= openInboxFile(this.#file, { now: () => this.#calledAt }));
    try {
      return await opening;
    } catch (error) {
      if (this.#inbox === opening) this.#inbox = undefined;
      // The receiver has opened it before.
      if (!isPigeonholeError(error, "invalid_argument")) throw error;
      const message = `${this.#file} was moved, deleted or replaced. Put it back, or restart the app.`;
      throw new PigeonholeError("store_replaced", message, { cause: error });
    }
  }
}
