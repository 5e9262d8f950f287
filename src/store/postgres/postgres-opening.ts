import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { inTime } from "../../base/wait.js";
import { OpeningTurns, notOpen } from "../opening-turns.js";
import { loadWithDriver } from "./load-with-driver.js";
import type { OpenPostgres, OpenRequest } from "./open-postgres.js";

/** How long a close waits for what was begun, in milliseconds: longer than a server that answers can take for most. */
const ENDS_WITHIN_MS = 5 * SECOND;

/** A store that is opened and closed: what was begun before a close ends before it, if the server answers in time. */
export class PostgresOpening {
  #opened: OpenPostgres | undefined;
  readonly #turns = new OpeningTurns();
  readonly #begun = new Set<Promise<unknown>>();

  open(request: OpenRequest): Promise<void> {
    return this.#turns.open(async () => {
      const { openPostgres } = await loadWithDriver(() => import("./open-postgres.js"));
      this.#opened = await openPostgres(request);
    });
  }

  close(): Promise<void> {
    return this.#turns.close((opening) => this.#closeAfter(opening));
  }

  /** Rejects with `stopped` while the store is not open. */
  async use<Value>(work: (open: OpenPostgres) => Promise<Value>): Promise<Value> {
    const open = this.#opened;
    if (open === undefined) throw notOpen();
    const begun = work(open);
    this.#begun.add(begun);
    try {
      return await begun;
    } finally {
      this.#begun.delete(begun);
    }
  }

  async #closeAfter(opening: Promise<void>): Promise<void> {
    if (this.#opened === undefined) await opening.catch(() => undefined);
    const open = this.#opened;
    this.#opened = undefined;
    await inTime(Promise.allSettled(this.#begun), waitingClock, ENDS_WITHIN_MS);
    await open?.close();
  }
}
