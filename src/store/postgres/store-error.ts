import { type ErrorCode, PigeonholeError, isPigeonholeError } from "../../base/error.js";

interface Meaning {
  code: ErrorCode;
  advice: string;
}

const UNREACHABLE: Meaning = { code: "store_unreachable", advice: "It is used again as soon as it answers." };
const BUSY: Meaning = { code: "store_busy", advice: "Another transaction holds what this one needs." };

/** What an SQLSTATE means for the store, by its longest prefix here; else the statement itself failed. */
const MEANINGS: Record<string, Meaning> = {
  "08": UNREACHABLE,
  "57P": UNREACHABLE,
  "53300": { code: "store_unreachable", advice: "Raise max_connections, or have fewer connections." },
  "28": { code: "server_unusable", advice: "Check the user, the password and pg_hba.conf." },
  "3D000": { code: "server_unusable", advice: "Create the database first." },
  "53400": { code: "server_unusable", advice: "Raise the limit that is set for the user or the database." },
  "53100": { code: "store_full", advice: "Free space on the disk of the server." },
  "53": BUSY,
  "55P03": BUSY,
  "57014": BUSY,
  "40001": BUSY,
  "40P01": BUSY,
  "25006": { code: "store_not_primary", advice: "Connect to the primary; this server takes no writes." },
  "42501": { code: "server_unusable", advice: "Give the user the rights to the schema of the store." },
  XX001: { code: "store_corrupt", advice: "The database is damaged; restore it from a backup." },
  XX002: { code: "store_corrupt", advice: "An index is damaged; rebuild it with REINDEX." },
};

/**
 * Converts an error of the driver. The message has the SQLSTATE and never PostgreSQL's own texts, which quote keys and
 * values; they are not kept as the cause either.
 */
export function asPostgresError(error: unknown, doing: string): PigeonholeError {
  if (error instanceof PigeonholeError) return error;
  const state = sqlStateOf(error);
  if (state === undefined) return withoutAnswer(error, doing);
  const { code, advice } = meaningOf(state) ?? { code: "store_failed", advice: "The server's log has the details." };
  return new PigeonholeError(code, `${doing} failed: PostgreSQL answered with SQLSTATE ${state}. ${advice}`);
}

/**
 * States after which a connection is replaced: it is closed, leads to a server that takes no writes, or is in a
 * transaction that did not end.
 */
const LOST = ["08", "57P", "25"] as const;

/** True when the connection cannot be used again, or what is still under way on it is not known. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof PigeonholeError) return takesNoWrites(error);
  const state = sqlStateOf(error);
  return state === undefined || LOST.some((prefix) => state.startsWith(prefix));
}

/** True for an error of the network, or of the driver, after which the connection is closed. */
export function hasNoAnswer(error: unknown): boolean {
  return !(error instanceof PigeonholeError) && sqlStateOf(error) === undefined;
}

/** True when the server takes no writes, as after a failover; another connection may lead to the new primary. */
export function takesNoWrites(error: unknown): boolean {
  return isPigeonholeError(error, "store_not_primary") || sqlStateOf(error) === "25006";
}

export function sqlStateOf(error: unknown): string | undefined {
  // Only errors of the server have a severity; those of the network have a code too, such as EPIPE.
  if (!(error instanceof Error) || !("severity" in error) || !("code" in error)) return undefined;
  return String(error.code);
}

function meaningOf(state: string): Meaning | undefined {
  for (let length = state.length; length > 1; length -= 1) {
    const meaning = MEANINGS[state.slice(0, length)];
    if (meaning !== undefined) return meaning;
  }
  return undefined;
}

/** Errors of the network have a code, such as `ECONNREFUSED`; the driver's own ones have only a message. */
function withoutAnswer(error: unknown, doing: string): PigeonholeError {
  const why = error instanceof Error && "code" in error ? String(error.code) : "the connection was closed or timed out";
  return new PigeonholeError("store_unreachable", `${doing} failed: no answer from PostgreSQL (${why}).`);
}
