import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { signDelivery } from "pigeonhole/protocol";
import type { Task } from "./receiver-process.js";

// Written from docs/service.md#retries and not from src/protocol/retry-schedule.ts: a sender that shared the receiver's
// rules would share its mistakes.

const WAITS_IN_MINUTES = [1, 5, 30, 120, 300, 600, 600];
const MAX_WAIT_IN_MINUTES = 600;
const MAX_RETRY_AFTER_MINUTES = 360;
const SHARE_OF_JITTER = 0.1;

/** What the service sends. */
export interface TestEvent {
  id: string;
  tasks: Record<string, Task>;
  /** More fields of `data`. */
  data?: Record<string, unknown>;
}

/** What the service receives; status null for no answer. */
export interface Answer {
  status: number | null;
  retryAfterSeconds: number;
  connection: string | undefined;
  body: string;
}

/** One attempt: when it was sent, and the status, or null for no answer. */
export interface Attempt {
  at: number;
  status: number | null;
}

/** How a delivery ended: with a 2xx, or lost for good. */
export interface Delivered {
  id: string;
  delivered: boolean;
  attempts: Attempt[];
}

export interface SenderOptions {
  secret: string;
  /** Where attempt number `attempt` of an event goes. */
  port: (attempt: number, id: string) => number;
  random: () => number;
  /** How long a minute of the service takes here. */
  minuteMs?: number;
  /**
   * The 5 s that the service waits for an answer. Not scaled: a disk and a shared core do not run faster here.
   * @default 5,000
   */
  answerWithinMs?: number;
  /**
   * True while the receiver is down again and again: an attempt sent meanwhile is never the last one. In the service's
   * own time the eight attempts span a day, and only some of them meet such an hour; here all of them can.
   * @default never
   */
  isOutage?: () => boolean;
}

/** The delivering half of the service, with its true retry rules in fast time. */
export class ServiceSender {
  readonly #options: Required<SenderOptions>;
  readonly #agent = new Agent({ keepAlive: true });
  #inFlight = 0;
  #awaited: { count: number; resolve: () => void }[] = [];

  constructor(options: SenderOptions) {
    this.#options = { minuteMs: 30, answerWithinMs: 5_000, isOutage: () => false, ...options };
  }

  /**
   * Resolves once so many attempts wait for their answers; not by looking now and then, which on a fast machine sees
   * none of them.
   */
  untilInFlight(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.push({ count, resolve });
      this.#tellInFlight();
    });
  }

  /**
   * Sends an event until it is answered 2xx, answered with a final status, or 8 attempts are spent and the last of them
   * met no outage.
   */
  async deliver(event: TestEvent): Promise<Delivered> {
    const attempts: Attempt[] = [];
    for (;;) {
      const at = Date.now();
      const isLast = attempts.length >= WAITS_IN_MINUTES.length && !this.#options.isOutage();
      const { status, retryAfterSeconds } = await this.attempt(event, attempts.length + 1);
      attempts.push({ at, status });
      if (status !== null && status >= 200 && status <= 299) return { id: event.id, delivered: true, attempts };
      if (!isRetried(status) || isLast) return { id: event.id, delivered: false, attempts };
      const minutes = WAITS_IN_MINUTES[attempts.length - 1] ?? MAX_WAIT_IN_MINUTES;
      await sleep(this.#waitMs(minutes, retryAfterSeconds));
    }
  }

  /** Sends an event once. */
  async attempt(event: TestEvent, number = 1): Promise<Answer> {
    this.#inFlight += 1;
    this.#tellInFlight();
    try {
      return await this.#post(event, number);
    } finally {
      this.#inFlight -= 1;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #tellInFlight(): void {
    for (const { count, resolve } of this.#awaited) if (this.#inFlight >= count) resolve();
    this.#awaited = this.#awaited.filter(({ count }) => this.#inFlight < count);
  }

  #waitMs(minutes: number, retryAfterSeconds: number): number {
    const { random, minuteMs } = this.#options;
    const varied = minutes * (1 + SHARE_OF_JITTER * (2 * random() - 1));
    return Math.max(varied, Math.min(retryAfterSeconds / 60, MAX_RETRY_AFTER_MINUTES)) * minuteMs;
  }

  #post(event: TestEvent, number: number): Promise<Answer> {
    const { secret, port, answerWithinMs } = this.#options;
    const body = bodyOf(event);
    // A retry is signed again; the body stays the same.
    const headers = {
      ...signDelivery({ body, secret }),
      "content-type": "application/json",
      // For a process that notes what it answers; the receiver itself reads the id in the body.
      "x-event-id": event.id,
      "content-length": String(Buffer.byteLength(body)),
    };
    return new Promise((resolve) => {
      const noAnswer = (): void => resolve({ status: null, retryAfterSeconds: 0, connection: undefined, body: "" });
      const post = request(
        {
          host: "127.0.0.1",
          port: port(number, event.id),
          path: "/hooks",
          method: "POST",
          headers,
          agent: this.#agent,
          signal: AbortSignal.timeout(answerWithinMs),
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("error", noAnswer);
          response.on("close", noAnswer);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? null,
              retryAfterSeconds: Number(response.headers["retry-after"] ?? 0),
              connection: response.headers.connection,
              body: text,
            }),
          );
        },
      );
      post.on("error", noAnswer);
      post.end(body);
    });
  }
}

function isRetried(status: number | null): boolean {
  return status === null || status === 408 || status === 425 || status === 429 || (status >= 500 && status <= 599);
}

/** The body of an event, the same in every attempt. */
export function bodyOf({ id, tasks, data }: TestEvent): string {
  return JSON.stringify({
    id,
    type: "email.sent",
    // Events with a number are as old as it says, in whatever order they come.
    createdAt: new Date(Date.UTC(2026, 10, 20, 9) + Number(/\d*$/.exec(id)?.[0])).toISOString(),
    data: { subject: "Hello", tasks, ...data },
  });
}
