import { Worker } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import type { InboxOperator } from "../inbox-operator.js";

/** What the thread runs for its caller: all of the operator but what needs its caller's thread. */
export type OperatorMethod = Exclude<keyof InboxOperator, "database" | "backUp" | "close">;

/** One call of the operator. */
export interface OperatorCall {
  id: number;
  method: OperatorMethod;
  args: readonly unknown[];
}

/** The thread's answer to the call of this id. */
export type OperatorAnswer =
  | { id: number; ok: true; value: unknown }
  | { id: number; ok: false; code: PigeonholeError["code"]; message: string };

interface WaitingCall {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** One thread with the calls that wait for it. */
interface StartedThread {
  worker: Worker;
  waiting: Map<number, WaitingCall>;
  /** Calls of this turn of the event loop, which go together: each message takes the core from the deliveries. */
  unsent: OperatorCall[];
  ended: Promise<void>;
}

/** Runs an operator on a thread of its own, so that a long list keeps neither the event loop nor the writer waiting. */
export class OperatorThread {
  readonly #file: string;
  #thread: StartedThread | undefined;
  #lastId = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Rejects also with what opening the file rejects with. */
  call(method: OperatorMethod, args: readonly unknown[]): Promise<unknown> {
    const thread = (this.#thread ??= this.#start());
    const { worker, waiting, unsent } = thread;
    this.#lastId += 1;
    const id = this.#lastId;
    // The thread alone must not keep the process alive; a call under way must.
    worker.ref();
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      if (unsent.push({ id, method, args }) === 1) queueMicrotask(() => sendCalls(thread));
    });
  }

  /**
   * Ends the thread, and with it the connection; calls under way reject with `stopped`. The next call opens the file
   * that is at the path then.
   */
  async end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread === undefined) return;
    sendCalls(thread);
    thread.worker.ref();
    thread.worker.postMessage("close");
    await thread.ended;
  }

  #start(): StartedThread {
    const worker = new Worker(new URL("./operator-thread.js", import.meta.url), { workerData: { file: this.#file } });
    const waiting: StartedThread["waiting"] = new Map();
    worker.on("message", (answers: readonly OperatorAnswer[]) => {
      for (const answer of answers) {
        const waiter = waiting.get(answer.id);
        waiting.delete(answer.id);
        if (answer.ok) waiter?.resolve(answer.value);
        else waiter?.reject(new PigeonholeError(answer.code, answer.message));
      }
      if (waiting.size === 0) worker.unref();
    });
    let cause: unknown;
    worker.on("error", (error: unknown) => (cause = error));
    const ended = new Promise<void>((resolve) =>
      worker.once("exit", () => {
        if (this.#thread?.worker === worker) this.#thread = undefined;
        for (const waiter of waiting.values()) waiter.reject(whyEnded(cause));
        resolve();
      }),
    );
    return { worker, waiting, unsent: [], ended };
  }
}

function sendCalls({ worker, waiting, unsent }: StartedThread): void {
  const calls = unsent.splice(0);
  if (calls.length === 0) return;
  try {
    worker.postMessage(calls);
  } catch (error) {
    // An argument that cannot be copied.
    for (const { id } of calls) {
      waiting.get(id)?.reject(error);
      waiting.delete(id);
    }
    if (waiting.size === 0) worker.unref();
  }
}

function whyEnded(cause: unknown): PigeonholeError {
  if (cause === undefined) return new PigeonholeError("stopped", "The store is closed.");
  return new PigeonholeError("store_failed", "The operator's thread of the store ended.", { cause });
}

/** The operator whose calls run in the thread; `checkOpen` throws before a call of a store that is closed or lost. */
export function operateInThread(file: string, thread: OperatorThread, checkOpen: () => unknown): InboxOperator {
  const run = async (method: OperatorMethod, args: readonly unknown[]): Promise<unknown> => {
    checkOpen();
    return thread.call(method, args);
  };
  const inThread =
    <Method extends OperatorMethod>(method: Method) =>
    (...args: Parameters<InboxOperator[Method]>): ReturnType<InboxOperator[Method]> =>
      // What the method of that name resolves with.
      run(method, args) as ReturnType<InboxOperator[Method]>;
  return {
    database: file,
    overview: inThread("overview"),
    countLists: inThread("countLists"),
    handlerTimes: inThread("handlerTimes"),
    findIds: inThread("findIds"),
    idsKnownSince: inThread("idsKnownSince"),
    listEvents: inThread("listEvents"),
    getEvent: inThread("getEvent"),
    readBodies: inThread("readBodies"),
    retryEvent: inThread("retryEvent"),
    retryWork: inThread("retryWork"),
    countWork: inThread("countWork"),
    runEvent: inThread("runEvent"),
    runWork: inThread("runWork"),
    countWaiting: inThread("countWaiting"),
    discardWork: inThread("discardWork"),
    listErrorGroups: inThread("listErrorGroups"),
    listFailedHandlers: inThread("listFailedHandlers"),
    countJob: inThread("countJob"),
    createJob: inThread("createJob"),
    listJobs: inThread("listJobs"),
    getJob: inThread("getJob"),
    cancelJob: inThread("cancelJob"),
    runJobPage: inThread("runJobPage"),
    pauseHandler: inThread("pauseHandler"),
    resumeHandler: inThread("resumeHandler"),
    listHandlers: inThread("listHandlers"),
    listPaused: inThread("listPaused"),
    dashboardSecret: inThread("dashboardSecret"),
    readFigures: inThread("readFigures"),
    readStatuses: inThread("readStatuses"),
    hasReceiver: inThread("hasReceiver"),
    discardEvent: inThread("discardEvent"),
    erase: inThread("erase"),
    listContactEvents: inThread("listContactEvents"),
    getContactEvent: inThread("getContactEvent"),
    retryContactEvent: inThread("retryContactEvent"),
    discardContactEvent: inThread("discardContactEvent"),
    countDeadContactEvents: inThread("countDeadContactEvents"),
    retryDeadContactEvents: inThread("retryDeadContactEvents"),
    discardDeadContactEvents: inThread("discardDeadContactEvents"),
    backUp: () => Promise.reject(new PigeonholeError("invalid_argument", "Use the store's own backUp.")),
    // The store closes its thread.
    close: () => Promise.resolve(),
  };
}
