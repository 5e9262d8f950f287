import { createReceiver } from "pigeonhole";
import type { Logger } from "pino";
import type { ApiAccess } from "../env.js";
import type { createStore } from "../store.js";
import { registerHandlers } from "./handlers/index.js";
import { schemas } from "./schemas.js";

interface MailReceiverOptions {
  /** Newest first. */
  secrets: string[];
  store: ReturnType<typeof createStore>;
  log: Logger;
  /** Needed to record contact events: `ctx.contactEvents.record({ name, email })` in a handler. */
  api?: ApiAccess | undefined;
}

export type MailReceiver = ReturnType<typeof createMailReceiver>;

/** The receiver with all handlers; `start()` it before the app listens. */
export function createMailReceiver({ secrets, store, log, api }: MailReceiverOptions) {
  const receiver = createReceiver({
    secrets,
    schemas,
    store,
    logger: log,
    ...(api !== undefined && { api }),
    // Each alarm is in the log as an error. Tell an operator here too: one, such as a secret that no longer matches, is
    // easily missed in a log.
    // onAlarm: (alarm) => tellOperator(alarm.kind),
  });
  registerHandlers(receiver);
  return receiver;
}
