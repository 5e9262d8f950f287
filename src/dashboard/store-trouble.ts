import { type ErrorCode, isPigeonholeError } from "../base/error.js";
import type { ReceiverParts } from "../receiver/receiver-parts.js";
import type { StoreTrouble } from "./state-now.js";

/** What to do, for errors whose message does not say it. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  store_busy: "See what else uses the database, and how busy its disk is.",
  store_failed: "See whether the database is there, whether the app may read and write it, and whether its disk works.",
  store_unreachable: "See whether the database server runs, and whether this machine reaches it.",
};
const IN_LOG = "The app's log has more about it.";

/** What to do about an error of the store; undefined where its message says it. */
export function adviceFor(code: string): string | undefined {
  return Object.entries(ADVICE).find(([of]) => of === code)?.[1];
}

/** Messages of this package hold no secrets; those that may quote a value, and all others, are for the log. */
export function troubleOf(error: unknown, before = ""): StoreTrouble {
  if (!isPigeonholeError(error) || error.mayQuote)
    return { code: "internal_error", message: `${before}Reading failed.`, advice: IN_LOG };
  const { code, message } = error;
  return { code, message: before + message, advice: adviceFor(code) ?? IN_LOG };
}

/** Why the store of a receiver that does not run yet is not open; undefined for one that has run. */
export function troubleOfStart({ path, watches }: Pick<ReceiverParts, "path" | "watches">): StoreTrouble | undefined {
  const { state } = path.admission;
  const { startError } = watches;
  if (state === "starting")
    return {
      code: "not_started",
      message: "The receiver starts, and opens its store.",
      advice: "The page continues by itself. If it takes long, the app's log has more about it.",
    };
  if (state !== "new") return undefined;
  if (startError !== undefined) return troubleOf(startError, "The receiver could not start: ");
  return {
    code: "not_started",
    message: "The receiver was not started yet, so its store is not open.",
    advice: "The code of the app must call start() of this receiver, and wait for it before it listens.",
  };
}
