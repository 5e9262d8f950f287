import { parentPort, workerData } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { FileOperator } from "./file-operator.js";
import type { OperatorAnswer, OperatorCall } from "./operator-in-thread.js";
import { asStoreError } from "./store-error.js";

// The code of the operator's thread: one connection, one answer per call. Calls that came together are answered
// together, unless one of them waits.

const port = parentPort;
if (port === null) throw new PigeonholeError("invalid_argument", "operator-thread must be started as a worker thread.");
const { file } = workerData as { file: string };
const operator = new FileOperator(file);

async function answer({ id, ...call }: OperatorCall): Promise<OperatorAnswer> {
  try {
    return { id, ok: true, value: await operator.call(call) };
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
    void operator.end().then(() => {
      sendAnswers();
      port.close();
    });
    return;
  }
  for (const call of message) void answer(call).then(send);
});
