import type { ReadyLoad } from "./closed-loop.js";
import { openConnection, type Connection } from "./connection.js";
import { createLoadRecorder, type LoadResult } from "./load-result.js";
import type { RequestPool } from "./request-pool.js";

const LAST_ANSWER_MS = 10_000;

/**
 * Opens the connections; `run` then starts `rate` requests per second at even distances. A request that finds no free
 * connection waits for one, and its wait counts: latency is taken from the moment at which it was due.
 */
export async function preparePacedLoop(load: {
  port: number;
  connections: number;
  seconds: number;
  rate: number;
  pool: RequestPool;
}): Promise<ReadyLoad> {
  const free: number[] = [];
  const connections: (Connection | undefined)[] = [];
  const dueAt = new Float64Array(load.connections);
  const total = Math.min(load.pool.size, Math.floor(load.rate * load.seconds));
  let recorder = createLoadRecorder(0);
  let ended = 0;

  const open = async (_: unknown, index: number): Promise<void> => {
    connections[index] = await openConnection(load.port, {
      onAnswer(status) {
        recorder.answer(status, dueAt[index] ?? Number.NaN);
        ended += 1;
        free.push(index);
      },
      onLost(reason) {
        recorder.fail(`connection lost: ${reason}`);
        ended += 1;
        connections[index] = undefined;
      },
    });
    free.push(index);
  };
  await Promise.all(Array.from({ length: load.connections }, open));

  const finish = (): LoadResult => ({ ...recorder.finish(false), loadCpuShare: Number.NaN });

  return {
    run() {
      recorder = createLoadRecorder(total);
      const stepMs = 1000 / load.rate;
      const deadline = recorder.start + load.seconds * 1000 + LAST_ANSWER_MS;
      let sent = 0;
      return new Promise((resolve) => {
        const tick = (): void => {
          const now = performance.now();
          while (sent < total && free.length > 0 && recorder.start + sent * stepMs <= now) {
            const index = free.shift() ?? 0;
            dueAt[index] = recorder.start + sent * stepMs;
            const connection = connections[index];
            if (connection) connection.send(load.pool.at(sent));
            else ended += 1;
            sent += 1;
          }
          if (ended >= total) return resolve(finish());
          if (now > deadline) {
            recorder.fail("no answer in time");
            return resolve(finish());
          }
          setImmediate(tick);
        };
        tick();
      });
    },
    close() {
      for (const connection of connections) connection?.destroy();
    },
  };
}
