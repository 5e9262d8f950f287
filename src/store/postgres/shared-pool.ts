import { Client, type ClientConfig, Pool, type PoolClient } from "pg";
import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { LATE, inTime, untilAborted } from "../../base/wait.js";
import type { AbandonedSessions } from "./abandoned-sessions.js";
import { CLOSES_WITHIN_MS, cutClient } from "./own-connection.js";
import { asPostgresError, isConnectionLost } from "./store-error.js";

const CONNECTS_WITHIN_MS = 5 * SECOND;

/** A client that goes back to its pool; one that is lost is closed and not used again. */
export interface BorrowedClient {
  readonly client: PoolClient;
  readonly giveBack: (isLost: boolean) => void;
  /** Why its connection has ended since; undefined while it is not known to have. */
  readonly endedBy: () => Error | undefined;
}

/**
 * Of the store's own pool. A connection that is not made in time gives up its place: a server that fell silent never
 * closes it. The pool's own limit would count the wait for a place too, which handlers may keep for long.
 */
class TimedClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECTS_WITHIN_MS });
  }
}

/** The application's pool, or one of the store's own. */
export class SharedPool {
  readonly #pool: Pool;
  readonly #isOwn: boolean;

  /** Clients of the store's own pool. */
  readonly #clients = new Set<PoolClient>();
  /** Clients of any pool that the store uses at the moment. */
  readonly #used = new Set<PoolClient>();
  #hasEnded = false;
  readonly #abandoned: AbandonedSessions;

  constructor(given: Pool | string, abandoned: AbandonedSessions) {
    this.#abandoned = abandoned;
    this.#isOwn = typeof given === "string";
    this.#pool = typeof given === "string" ? new Pool({ connectionString: given, Client: TimedClient }) : given;
    if (this.#isOwn) {
      this.#pool.on("connect", (client) => this.#clients.add(client));
      this.#pool.on("remove", (client) => this.#clients.delete(client));
    }
    // Without a listener, an idle connection that is closed by the server would end the process.
    this.#pool.on("error", ignore);
  }

  /** How the application connects, for connections beside the pool. */
  get config(): ClientConfig {
    const { options } = this.#pool;
    // The pool hides them from copies.
    return { ...options, password: options.password, ssl: options.ssl };
  }

  /** A client whose errors are handled. One that comes after the signal was aborted goes back. */
  borrow(doing: string, signal?: AbortSignal): Promise<BorrowedClient> {
    const borrowing = this.#borrow(doing);
    return untilAborted(borrowing, signal).catch((error: unknown) => {
      borrowing.then(
        ({ giveBack }) => giveBack(false),
        () => undefined,
      );
      throw error;
    });
  }

  async #borrow(doing: string): Promise<BorrowedClient> {
    try {
      let endedBy: Error | undefined;
      const noteEnd = (error: Error): void => void (endedBy ??= error);
      // A promise of the pool would resolve only after what the server says together with its greeting.
      const client = await new Promise<PoolClient>((resolve, reject) =>
        this.#pool.connect((error, made) => (made === undefined ? reject(error) : resolve(made.on("error", noteEnd)))),
      );
      return {
        client,
        endedBy: () => endedBy,
        giveBack: (isLost) => {
          client.off("error", noteEnd);
          if (isLost) this.#abandoned.add(client);
          client.release(isLost);
        },
      };
    } catch (error) {
      throw asPostgresError(error, doing);
    }
  }

  /** Does the work on a client, which is waited for until `limit` is aborted; one that fails is not used again. */
  async run<Value>(doing: string, work: (client: PoolClient) => Promise<Value>, limit: AbortSignal): Promise<Value> {
    const { client, giveBack } = await this.borrow(doing, limit).catch((error: unknown) => {
      throw limit.aborted ? noneFree(doing) : error;
    });
    this.#used.add(client);
    try {
      if (this.#hasEnded) throw new PigeonholeError("stopped", "The store is closed.");
      const value = await work(client);
      giveBack(false);
      return value;
    } catch (error) {
      giveBack(isConnectionLost(error));
      throw asPostgresError(error, doing);
    } finally {
      this.#used.delete(client);
    }
  }

  /** What the store still does in the pool ends at once: the closing has waited for it. */
  async end(): Promise<void> {
    // The store's own one keeps it: the server may end a connection that is being closed.
    if (!this.#isOwn) this.#pool.off("error", ignore);
    this.#hasEnded = true;
    for (const client of this.#used) cutClient(client);
    if (!this.#isOwn || (await inTime(this.#pool.end(), waitingClock, CLOSES_WITHIN_MS)) !== LATE) return;
    for (const client of this.#clients) cutClient(client);
  }
}

function noneFree(doing: string): PigeonholeError {
  return new PigeonholeError(
    "store_busy",
    `${doing} failed: no connection of the pool became free in time. Give the pool more connections.`,
  );
}

function ignore(): void {}
