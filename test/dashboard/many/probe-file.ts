import { Worker } from "node:worker_threads";

/** Measures until it is ended. */
export interface HoldProbe {
  /** For how long a lock was held or waited for, each time, in milliseconds. */
  end(): Promise<number[]>;
}

/** Asks for the lock of the writer again and again, and notes each time for how long it was refused at a stretch. */
const CODE = `
  const { parentPort, workerData } = require("node:worker_threads");
  const Database = require(workerData.driver);
  const db = new Database(workerData.file, { timeout: 0 });
  const begin = db.prepare("BEGIN IMMEDIATE");
  const end = db.prepare("ROLLBACK");
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const holds = [];
  let refusedAt, lookedAt = performance.now(), ended = false;
  parentPort.on("message", () => (ended = true));
  const isFree = () => {
    try { begin.run(); end.run(); return true; }
    catch (error) { if (error.code === "SQLITE_BUSY") return false; throw error; }
  };
  const look = () => {
    for (const until = performance.now() + 50; performance.now() < until; Atomics.wait(pause, 0, 0, 0.5)) {
      const now = performance.now();
      // A probe that did not run itself knows nothing of that time.
      if (now - lookedAt > 5) refusedAt = undefined;
      lookedAt = now;
      if (!isFree()) refusedAt ??= now;
      else if (refusedAt !== undefined) { holds.push(now - refusedAt); refusedAt = undefined; }
    }
    if (!ended) return setImmediate(look);
    db.close();
    parentPort.postMessage(holds);
    parentPort.close();
  };
  parentPort.postMessage("ready");
  look();`;

/** On a thread and a connection of its own. */
export async function probeFile(file: string): Promise<HoldProbe> {
  const driver = new URL(import.meta.resolve("better-sqlite3")).pathname;
  const worker = new Worker(CODE, { eval: true, workerData: { file, driver } });
  const next = <Value>() =>
    new Promise<Value>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
    });
  await next();
  return {
    end() {
      const holds = next<number[]>();
      worker.postMessage("end");
      return holds;
    },
  };
}
