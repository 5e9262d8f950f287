import { createReceiver } from "pigeonhole";

/** Verifies and stores deliveries, and runs the handlers. `store` is the path of the SQLite file. */
export function createMailReceiver({ secrets, store }: { secrets: string; store: string }) {
  const receiver = createReceiver({ secrets, store });
  receiver.on("email.received", ({ id, type }, { log }) => log.info({ id, type }, "handled"));
  return receiver;
}
