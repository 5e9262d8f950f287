import { Worker } from "node:worker_threads";
import { PigeonholeError } from "../../base/error.js";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";
import type { InboxOperator } from "../inbox-operator.js";

/** What the thread runs for its caller: all of the operator but its end. */
export type OperatorMethod = Exclude<keyof InboxOperator, "database" | "close">;

export interface MethodCall {
  method: OperatorMethod;
  args: readonly unknown[];
}

export interface OperatorCall extends MethodCall {
  id: number;
  /** The time of the call by its caller's clock, in milliseconds since 1970. */
  now: number;
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

/** An operator that runs each call of a file, on a thread of its own or on the caller's. */
export interface Operating {
  call(given: Omit<OperatorCall, "id">): Promise<unknown>;
  end(): Promise<void>;
}

/** Runs an operator on a thread of its own, so that a long list keeps neither the event loop nor the writer waiting. */
export class OperatorThread implements Operating {
  readonly #file: string;
  #thread: StartedThread | undefined;
  #lastId = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Rejects also with what opening the file rejects with. */
  call(given: Omit<OperatorCall, "id">): Promise<unknown> {
    const thread = (this.#thread ??= this.#start());
    const { worker, waiting, unsent } = thread;
    this.#lastId += 1;
    const id = this.#lastId;
    // The thread alone must not keep the process alive; a call under way must.
    worker.ref();
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      if (unsent.push({ ...given, id }) === 1) queueMicrotask(() => sendCalls(thread));
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
    const worker = new Worker(new URL("dist/store/sqlite/operator-thread.js", PACKAGE_FOLDER), {
      workerData: { file: this.#file },
    });
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

function sendCalls(thread: StartedThread, calls = thread.unsent.splice(0)): void {
  const [first] = calls;
  if (first === undefined) return;
  const { worker, waiting } = thread;
  try {
    worker.postMessage(calls);
  } catch (cause) {
    if (calls.length > 1) {
      for (const call of calls) sendCalls(thread, [call]);
      return;
    }
    const message = `${first.method} was called with something that cannot be sent to a thread.`;
    waiting.get(first.id)?.reject(new PigeonholeError("invalid_argument", message, { cause }));
    waiting.delete(first.id);
    if (waiting.size === 0) worker.unref();
  }
}

function whyEnded(cause: unknown): PigeonholeError {
  if (cause === undefined) return new PigeonholeError("stopped", "The store is closed.");
  return new PigeonholeError("store_failed", "The operator's thread of the store ended.", { cause });
}

/** Runs a method of an operator. */
export function callOperator(operator: InboxOperator, { method, args }: MethodCall): Promise<unknown> {
  const run = operator[method] as (...given: readonly unknown[]) => Promise<unknown>;
  return run(...args);
}

/** An operator all of whose methods but the end are one function: the store that it is of closes what it has opened. */
export function operateBy(database: string, call: (given: MethodCall) => Promise<unknown>): InboxOperator {
  const own = { database, close: () => Promise.resolve() };
  return new Proxy(own as InboxOperator, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return own[name as keyof typeof own];
      // Promises look for a method of this name.
      if (typeof name === "symbol" || name === "then") return undefined;
      // oxlint-disable-next-line require-await -- a throw must become a rejection
      return async (...args: readonly unknown[]) => call({ method: name as OperatorMethod, args });
    },
  });
}
