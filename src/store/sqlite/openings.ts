import { systemClock } from "../../base/clock.js";
import { errorFields } from "../../base/error-fields.js";
import { sleep as sleepBy } from "../../base/wait.js";
import { OpeningTurns, notOpen } from "../opening-turns.js";
import type { RecoverResult, StoreContext } from "../store.js";
import { BUSY_WAITS, whileBusy } from "../while-busy.js";
import { identify, isSameFile } from "./file-identity.js";
import { FileOwnership } from "./file-ownership.js";
import { IN_MEMORY } from "./open-database.js";
import type { Operating } from "./operator-in-thread.js";
import { type OpenStore, type OpenStoreOptions, openStore } from "./open-store.js";
import { hasSecondSqlite } from "./own-locks.js";

/** How often the store checks whether removed files are back. */
const REOPEN_WAIT_MS = 250;

type Given = Omit<OpenStoreOptions, "lost" | keyof StoreContext>;

/** Opens and closes a store, and opens it again by itself when its files were away and are back. */
export class Openings {
  readonly #given: Given;
  readonly #operating: Operating;
  /** Undefined in memory. */
  readonly #ownership: FileOwnership | undefined;
  opened: OpenStore | undefined;
  readonly #turns = new OpeningTurns();
  /** Opens removed files again; ends when this opening is closed. */
  #replacing = Promise.resolve();
  #closed = new AbortController();
  /** Whether the open writer has begun its epoch, or continues the one before. */
  #hasEpoch = false;
  /** Of this opening; undefined until it has taken the file over. */
  epoch: number | undefined;

  constructor(given: Given, operating: Operating) {
    this.#given = given;
    this.#operating = operating;
    this.#ownership = given.file === IN_MEMORY ? undefined : new FileOwnership(given.file);
  }

  /** Throws `stopped` while the store is not open. */
  current(): OpenStore {
    if (this.opened === undefined) throw notOpen();
    return this.opened;
  }

  get isFileLost(): boolean {
    return this.#ownership?.isLost === true;
  }

  open(context: StoreContext): Promise<void> {
    return this.#turns.open(async () => {
      this.#closed = new AbortController();
      this.#use(await whileBusy(BUSY_WAITS.opening, () => openStore({ ...this.#given, ...context })), context);
    });
  }

  close(): Promise<void> {
    return this.#turns.close((opening) => this.#closeAfter(opening));
  }

  /** Takes the file over unless another process works on it. */
  async recover(now: number): Promise<RecoverResult> {
    // A closed store must not take the file from the next one.
    const { commits } = this.current();
    const ownership = this.#ownership;
    if (ownership !== undefined && !ownership.take()) return { owner: false, recovered: 0, parked: 0 };
    const everything = ownership !== undefined && this.epoch === undefined;
    const given = { now, everything, takeOver: !this.#hasEpoch, epoch: this.epoch };
    const { epoch, recovered, parked } = await commits.run("recover", given);
    this.#hasEpoch = epoch !== undefined;
    // Another process has begun the next one, so the lock was lost unnoticed.
    if (!this.#hasEpoch) ownership?.lose();
    this.epoch = epoch ?? this.epoch;
    return { owner: this.#hasEpoch, recovered, parked };
  }

  #use(open: OpenStore, context: StoreContext): void {
    this.opened = open;
    this.#hasEpoch = false;
    void open.commits.broken.then(({ code, message }) => {
      context.onAlarm?.({ kind: "store_unavailable", code, message });
      if (code === "store_replaced" && this.opened === open) this.#replacing = this.#replace(open, context);
    });
  }

  /** Closes the connections to removed files, and continues with the database once it is back at its path. */
  async #replace(lost: OpenStore, context: StoreContext): Promise<void> {
    const { clock = systemClock } = context;
    const { signal } = this.#closed;
    const wasOwner = this.#ownership?.isOwner === true;
    this.#ownership?.lose();
    await Promise.all([lost.abandon(), this.#operating.end()]);
    const reopen = prepareReopen({ ...this.#given, ...context, lost });
    while (this.opened === lost) {
      const found = await reopen();
      if (found === undefined) {
        await sleepBy(clock, REOPEN_WAIT_MS, signal).catch(() => undefined);
      } else if (this.opened === lost) {
        this.#use(found, context);
        if (wasOwner) this.#retake();
      } else {
        await found.close();
      }
    }
  }

  /** If this fails, the next check of this process or of another one takes over. */
  #retake(): void {
    try {
      this.#ownership?.take();
    } catch {
      // The next check reports the error.
    }
  }

  /** An opening in progress finishes before it is closed again. */
  async #closeAfter(openedOrNot: Promise<void>): Promise<void> {
    let open = this.opened;
    if (open === undefined) {
      await openedOrNot.catch(() => undefined);
      open = this.opened;
    }
    this.opened = undefined;
    this.#closed.abort();
    this.epoch = undefined;
    await Promise.all([this.#replacing, this.#operating.end()]);
    await open?.close().finally(() => this.#ownership?.release());
  }
}

/**
 * Tries to open the files of `lost` again, as often as the result is called; undefined while that is not possible. What
 * fails is logged once, and again when it is another error.
 */
function prepareReopen(options: OpenStoreOptions & { lost: OpenStore }): () => Promise<OpenStore | undefined> {
  let logged: string | undefined;
  return async () => {
    if (!canReopen(options.lost)) return undefined;
    try {
      return await openStore(options);
    } catch (error) {
      // The message of the user's own error may quote a row.
      const fields = errorFields(error, false);
      const text = JSON.stringify(fields);
      if (text !== logged) options.logger.error(fields, "reopen_failed");
      logged = text;
      return undefined;
    }
  };
}

/**
 * True once the database is back at its path. SQLite shares its state of a file among all connections of a process, so
 * one of the app's own connections would lead a new opening to the old files; that can be detected only where the locks
 * are visible. Beside a second SQLite, the new opening would not last.
 */
function canReopen({ files }: OpenStore): boolean {
  if (files?.data.locks === undefined) return false;
  const { file, database, locks, sharedMemory } = files.data;
  return isSameFile(identify(file), database) && !hasSecondSqlite(locks, sharedMemory);
}
