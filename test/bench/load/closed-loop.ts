import { openConnection, type Connection } from "./connection.js";
import { createLoadRecorder, type LoadResult } from "./load-result.js";
import type { RequestPool } from "./request-pool.js";

/** Longest wait for answers that are still out when the interval ends. */
const LAST_ANSWER_MS = 10_000;

/** A client that sends the next request when the answer to the one before is complete. */
interface Client {
  connection: Connection | undefined;
  startedAt: number;
  busy: boolean;
}

export interface ReadyLoad {
  run(): Promise<LoadResult>;
  close(): void;
}

/** Opens the connections; `run` then keeps every one of them busy until the time or the requests run out. */
export async function prepareClosedLoop(load: {
  port: number;
  connections: number;
  seconds: number;
  pool: RequestPool;
}): Promise<ReadyLoad> {
  const clients: Client[] = [];
  let recorder = createLoadRecorder(0);
  let next = 0;
  let open = false;
  let onIdle: (() => void) | undefined;

  const sendNext = (client: Client): void => {
    if (next >= load.pool.size) stopSending();
    if (!open || !client.connection) {
      client.busy = false;
      if (clients.every(({ busy }) => !busy)) onIdle?.();
      return;
    }
    client.busy = true;
    client.startedAt = performance.now();
    client.connection.send(load.pool.at(next));
    next += 1;
  };
  const stopSending = (): void => {
    if (open) recorder.endInterval();
    open = false;
  };

  const addClient = async (): Promise<void> => {
    const client: Client = { connection: undefined, startedAt: 0, busy: false };
    client.connection = await openConnection(load.port, {
      onAnswer(status) {
        recorder.answer(status, client.startedAt);
        sendNext(client);
      },
      onLost(reason) {
        recorder.fail(`connection lost: ${reason}`);
        client.connection = undefined;
        sendNext(client);
      },
    });
    clients.push(client);
  };
  await Promise.all(Array.from({ length: load.connections }, addClient));

  return {
    async run() {
      recorder = createLoadRecorder(load.pool.size);
      open = true;
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      const interval = setTimeout(stopSending, load.seconds * 1000);
      const deadline = setTimeout(
        () => {
          recorder.fail("no answer in time");
          onIdle?.();
        },
        load.seconds * 1000 + LAST_ANSWER_MS,
      );
      for (const client of clients) {
        if (!client.connection) recorder.fail("connection lost before the interval");
        sendNext(client);
      }
      await idle;
      clearTimeout(interval);
      clearTimeout(deadline);
      return recorder.finish(next >= load.pool.size);
    },
    close() {
      for (const client of clients) client.connection?.destroy();
    },
  };
}
