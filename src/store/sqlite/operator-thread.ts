import { parentPort, workerData } from "node:worker_threads";
import { PigeonholeError, isPigeonholeError } from "../../base/error.js";
import type { InboxOperator } from "../inbox-operator.js";
import { openInboxFile } from "./open-inbox-file.js";
import type { OperatorAnswer, OperatorCall } from "./operator-in-thread.js";
import { asStoreError } from "./store-error.js";

// The code of the operator's thread: one connection, one answer per call. Calls that came together are answered
// together, unless one of them waits.

const port = parentPort;
if (port === null) throw new PigeonholeError("invalid_argument", "operator-thread must be started as a worker thread.");
const { file } = workerData as { file: string };
let inbox: Promise<InboxOperator> | undefined;
/** The caller's time of the last call. */
let calledAt = 0;

/** A file that could not be opened is tried again with the next call: it may have been put back. */
async function opened(): Promise<InboxOperator> {
  const opening = (inbox ??= openInboxFile(file, { now: () => calledAt }));
  try {
    return await opening;
  } catch (error) {
    if (inbox === opening) inbox = undefined;
    // The receiver has opened it before.
    if (!isPigeonholeError(error, "invalid_argument")) throw error;
    const message = `${file} was moved, deleted or replaced. Put it back, or restart the app.`;
    throw new PigeonholeError("store_replaced", message, { cause: error });
  }
}

async function answer({ id, method, args, now }: OperatorCall): Promise<OperatorAnswer> {
  try {
    calledAt = now;
    const operator = await opened();
    const run = operator[method] as (...given: readonly unknown[]) => Promise<unknown>;
    return { id, ok: true, value: await run(...args) };
  } catch (error) {
    const { code, message } = asStoreError(error, `reading ${file}`);
    return { id, ok: false, code, message };
  }
}

const unsent: OperatorAnswer[] = [];

function sendAnswers(): void {
  if (unsent.length > 0) port?.postMessage(unsent.splice(0));
}

function send(answered: OperatorAnswer): void {
  if (unsent.push(answered) === 1) setImmediate(sendAnswers);
}

port.on("message", (message: readonly OperatorCall[] | "close") => {
  if (message === "close") {
    void Promise.resolve(inbox)
      .then((operator) => operator?.close())
      .catch(() => undefined)
      .then(() => {
        sendAnswers();
        port.close();
      });
    return;
  }
  for (const call of message) void answer(call).then(send);
});
