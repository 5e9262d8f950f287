import { parentPort, workerData } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { openInboxFile } from "./open-inbox-file.js";
import type { OperatorAnswer, OperatorCall } from "./operator-in-thread.js";
import { asStoreError } from "./store-error.js";

// The code of the operator's thread: one connection, one answer per call.

const port = parentPort;
if (port === null) throw new PigeonholeError("invalid_argument", "operator-thread must be started as a worker thread.");
const { file } = workerData as { file: string };
const inbox = openInboxFile(file);
// Each call rejects with it.
inbox.catch(() => undefined);

async function answer({ id, method, args }: OperatorCall): Promise<OperatorAnswer> {
  try {
    const operator = await inbox;
    const run = operator[method] as (...given: readonly unknown[]) => Promise<unknown>;
    return { id, ok: true, value: await run(...args) };
  } catch (error) {
    const { code, message } = asStoreError(error, `reading ${file}`);
    return { id, ok: false, code, message };
  }
}

port.on("message", (message: OperatorCall | "close") => {
  if (message === "close") {
    void inbox
      .then((operator) => operator.close())
      .catch(() => undefined)
      .then(() => port.close());
    return;
  }
  void answer(message).then((result) => port.postMessage(result));
});
