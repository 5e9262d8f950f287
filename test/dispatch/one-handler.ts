import { fileURLToPath } from "node:url";
import { type ReceiverProcess, startReceiver } from "../support/receiver-process.js";

const SCRIPT = fileURLToPath(new URL("one-handler.mjs", import.meta.url));

/** Where a receiver process has its store. */
export type Place = { file: string } | { url: string; schema: string };

/** Starts a process whose one handler is of that kind: `one-handler.mjs` says what each does. */
export function startHandler(
  kind: "batch" | "rate" | "wait",
  config: { place: Place; events: readonly object[] } & Record<string, unknown>,
): ReceiverProcess {
  return startReceiver({ kind, ...config }, {}, SCRIPT);
}
