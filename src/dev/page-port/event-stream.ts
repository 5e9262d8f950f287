import { randomBytes } from "node:crypto";
import type { Clock, Timer } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import type { StreamSink } from "../../web/web-answer.js";

const HEARTBEAT_MS = 15 * SECOND;

/** Messages that are kept for pages that reconnect. */
const KEPT_MESSAGES = 2_000;

interface Message {
  number: number;
  text: string;
}

/**
 * Server-sent events for the page. Every message has an id; a page that reconnects names the last one it received and
 * gets the later ones. If that is too long ago or from another run, it gets one `reset` and loads its lists again.
 */
export class EventStream {
  readonly #clock: Clock;
  /** Distinguishes this run's ids from another run's. */
  readonly #run = randomBytes(4).toString("hex");
  readonly #kept: Message[] = [];
  readonly #pages = new Set<StreamSink>();
  #number = 0;
  #heartbeat: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of pages that listen. */
  get listeners(): number {
    return this.#pages.size;
  }

  publish(event: string, data: unknown): void {
    this.#number += 1;
    const text = `id: ${this.#run}-${this.#number}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    this.#kept.push({ number: this.#number, text });
    if (this.#kept.length > KEPT_MESSAGES) this.#kept.shift();
    for (const page of this.#pages) page.write(text);
  }

  /** Writes to the page until {@link close}; returns a function to be called when the page has disconnected. */
  open(page: StreamSink, lastId: string | string[] | undefined): () => void {
    page.write(`retry: 1000\n\n${this.#missedBy(lastId)}`);
    this.#pages.add(page);
    if (this.#heartbeat === undefined) this.#beat();
    return () => void this.#pages.delete(page);
  }

  close(): void {
    this.#heartbeat?.cancel();
    for (const page of this.#pages) page.end();
    this.#pages.clear();
  }

  #missedBy(lastId: string | string[] | undefined): string {
    if (typeof lastId !== "string" || lastId === "") return "";
    const [run, number] = lastId.split("-");
    const last = Number(number);
    const oldest = this.#kept[0]?.number ?? this.#number + 1;
    const isKnown = run === this.#run && Number.isInteger(last) && last >= oldest - 1 && last <= this.#number;
    if (!isKnown) return "event: reset\ndata: {}\n\n";
    return this.#kept
      .filter((message) => message.number > last)
      .map(({ text }) => text)
      .join("");
  }

  #beat(): void {
    this.#heartbeat = this.#clock.setTimer(() => {
      for (const page of this.#pages) page.write(": still here\n\n");
      this.#beat();
    }, HEARTBEAT_MS);
  }
}
