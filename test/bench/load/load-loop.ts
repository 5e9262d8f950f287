import { openConnection, type Connection } from "./connection.js";
import { createLoadRecorder, type LoadResult } from "./load-result.js";
import type { RequestPool } from "./request-pool.js";

/** Longest wait for answers that are still out when the interval ends. */
const LAST_ANSWER_MS = 10_000;

export interface LoadLoop {
  port: number;
  connections: number;
  seconds: number;
  pool: RequestPool;
  /**
   * Requests per second, at even distances. One that finds no free connection waits for one, and its wait counts:
   * latency is taken from the moment at which it was due. Undefined: each connection sends the next request when the
   * answer to the one before is complete.
   */
  rate?: number | undefined;
}

export interface ReadyLoad {
  run(): Promise<LoadResult>;
  close(): void;
}

/** Opens the connections; `run` then uses them until the time or the requests run out. */
export async function prepareLoad({ port, seconds, pool, rate, ...load }: LoadLoop): Promise<ReadyLoad> {
  const total = rate === undefined ? pool.size : Math.min(pool.size, Math.floor(rate * seconds));
  const connections: (Connection | undefined)[] = [];
  const startedAt = new Float64Array(load.connections);
  const free: number[] = [];
  let recorder = createLoadRecorder(0);
  let sent = 0;
  let ended = 0;
  let onEnded = (): void => undefined;

  const open = async (_: unknown, index: number): Promise<void> => {
    connections[index] = await openConnection(port, {
      onAnswer(status) {
        recorder.answer(status, startedAt[index] ?? Number.NaN);
        free.push(index);
        ended += 1;
        onEnded();
      },
      onLost(reason) {
        recorder.fail(`connection lost: ${reason}`);
        connections[index] = undefined;
        ended += 1;
        onEnded();
      },
    });
    free.push(index);
  };
  await Promise.all(Array.from({ length: load.connections }, open));

  const canSend = (): boolean => sent < total && free.length > 0;
  const sendNext = (at: number): void => {
    const index = free.shift() ?? 0;
    startedAt[index] = at;
    const connection = connections[index];
    if (connection === undefined) {
      recorder.fail("connection lost before the interval");
      ended += 1;
    } else connection.send(pool.at(sent));
    sent += 1;
  };

  /** Keeps every connection busy. */
  function saturate(end: () => void): void {
    let isOpen = true;
    const stop = (): void => {
      if (isOpen) recorder.endInterval();
      isOpen = false;
    };
    setTimeout(stop, seconds * 1_000).unref();
    onEnded = () => {
      if (sent >= total) stop();
      if (isOpen) while (canSend()) sendNext(performance.now());
      if (ended === sent) end();
    };
    onEnded();
  }

  /** Looks at each turn of the event loop which requests are due. */
  function pace(stepMs: number, end: () => void, isOver: () => boolean): void {
    const dueAt = (): number => recorder.start + sent * stepMs;
    const now = performance.now();
    while (canSend() && dueAt() <= now) sendNext(dueAt());
    if (ended >= total) end();
    if (!isOver()) setImmediate(pace, stepMs, end, isOver);
  }

  return {
    async run() {
      recorder = createLoadRecorder(total);
      let isOver = false;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          isOver = true;
          clearTimeout(limit);
          resolve();
        };
        const fail = (): void => (recorder.fail("no answer in time"), end());
        const limit = setTimeout(fail, seconds * 1_000 + LAST_ANSWER_MS);
        if (rate === undefined) saturate(end);
        else pace(1_000 / rate, end, () => isOver);
      });
      // A paced load spins.
      if (rate !== undefined) return { ...recorder.finish(false), loadCpuShare: Number.NaN };
      return recorder.finish(sent >= total);
    },
    close() {
      for (const connection of connections) connection?.destroy();
    },
  };
}
