import { setTimeout as sleep } from "node:timers/promises";
import type { Delivered, ServiceSender, TestEvent } from "./service-sender.js";

/** Bursts of deliveries that go on until they are stopped. */
export interface Load {
  /** Sent so far. */
  readonly events: readonly TestEvent[];
  /** Ids that were sent twice at the same time. */
  readonly sentTwice: ReadonlySet<string>;
  /** Sends no more; resolves when every delivery has been answered or is lost. */
  stop(): Promise<Delivered[]>;
}

/** Starts to send events named evt_0, evt_1, …; every `twiceEvery`th is sent twice at the same time. */
export function startLoad(options: {
  sender: ServiceSender;
  tasks: () => TestEvent["tasks"];
  burst: () => number;
  pauseMs: () => number;
  twiceEvery: number;
}): Load {
  const { sender, tasks, burst, pauseMs, twiceEvery } = options;
  const events: TestEvent[] = [];
  const sentTwice = new Set<string>();
  const deliveries: Promise<Delivered>[] = [];
  const stopped = new AbortController();

  function sendOne(): void {
    const event = { id: `evt_${events.length}`, tasks: tasks() };
    events.push(event);
    deliveries.push(sender.deliver(event));
    if (events.length % twiceEvery !== 0) return;
    sentTwice.add(event.id);
    deliveries.push(sender.deliver(event));
  }

  async function sendBursts(): Promise<void> {
    while (!stopped.signal.aborted) {
      for (let left = burst(); left > 0; left -= 1) sendOne();
      await sleep(pauseMs());
    }
  }

  const sending = sendBursts();
  return {
    events,
    sentTwice,
    async stop() {
      stopped.abort();
      await sending;
      return Promise.all(deliveries);
    },
  };
}
