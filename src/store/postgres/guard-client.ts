import type { PoolClient } from "pg";
import { PigeonholeError } from "../../base/error.js";
import { endsTransaction } from "./ends-transaction.js";

/**
 * Without it, what a function of `ctx.commit` writes after a COMMIT of its own is kept beside work that runs again.
 * Test: "a commit refuses COMMIT, also if the error is caught".
 *
 * A client for the length of one `ctx.commit` or `setup`.
 */
export interface GuardedClient {
  /** The same client; every use of it fails after `end`, and after SQL that would have ended the transaction. */
  readonly client: PoolClient;
  /** Throws `transaction_closed` when such SQL was refused, also if the user caught that. */
  checkKept(): void;
  end(): void;
}

/** The connection goes back to its pool by itself. */
const DOES_NOTHING: readonly (string | symbol)[] = ["release"];
const REFUSED: readonly (string | symbol)[] = ["connect", "end"];

export function guardClient(client: PoolClient, name: string): GuardedClient {
  let isOpen = true;
  let hasTriedToEnd = false;

  function checkOpen(): void {
    if (!isOpen) throw closed(name);
    // A write from now on would be without what was refused.
    if (hasTriedToEnd) throw ended(name);
  }

  function checkCall(method: string | symbol, argument: unknown): void {
    checkOpen();
    if (REFUSED.includes(method)) {
      throw new PigeonholeError("invalid_argument", `tx.client.${String(method)}() is not allowed in ${name}.`);
    }
    const sql = method === "query" ? textOf(argument) : undefined;
    if (sql === undefined || !endsTransaction(sql)) return;
    hasTriedToEnd = true;
    throw ended(name);
  }

  // What libraries look at, such as the class, is that of the client.
  const guarded = new Proxy({} as PoolClient, {
    get(_, property) {
      checkOpen();
      if (DOES_NOTHING.includes(property)) return () => undefined;
      const value: unknown = Reflect.get(client, property, client);
      if (typeof value !== "function") return value;
      return (...args: unknown[]): unknown => {
        checkCall(property, args[0]);
        return Reflect.apply(value, client, args);
      };
    },
    has: (_, property) => Reflect.has(client, property),
    getPrototypeOf: () => Reflect.getPrototypeOf(client),
  });

  return {
    client: guarded,
    checkKept() {
      if (hasTriedToEnd) throw ended(name);
    },
    end() {
      isOpen = false;
    },
  };
}

/** The SQL of a query: a text, or an object that has one, as cursors do. */
function textOf(query: unknown): string | undefined {
  if (typeof query === "string") return query;
  if (typeof query !== "object" || query === null || !("text" in query)) return undefined;
  return typeof query.text === "string" ? query.text : undefined;
}

function closed(name: string): PigeonholeError {
  return new PigeonholeError(
    "transaction_closed",
    `tx.client was used after ${name} had ended; await all that you do with it inside its function.`,
  );
}

function ended(name: string): PigeonholeError {
  return new PigeonholeError(
    "transaction_closed",
    `SQL that begins or ends a transaction was given to tx.client, so nothing of this ${name} is kept. Leave out BEGIN, COMMIT and ROLLBACK; throw to undo everything, or use SAVEPOINT for a part.`,
  );
}
