import { type Clock, elapsedBy, type Timer } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { withoutAges } from "../operator/figures-now.js";
import type { BulkJob } from "../store/bulk-jobs.js";
import { type StateNow, OLD_COUNTS_MS, type StreamMessages } from "./state-now.js";
import type { PayloadAccess } from "../web/api/session.js";
import type { StreamSink } from "../web/web-answer.js";
import type { FailureLog } from "./failure-log.js";
import type { Viewer } from "../web/web-route.js";
import { showJob } from "./job-routes.js";

const REFRESH_MS = 1 * SECOND;
const HEARTBEAT_MS = 15 * SECOND;
/** Then the page connects again, through the app's login: who was signed out stays away. */
const MAX_STREAM_MS = 10 * MINUTE;
/** Open streams of this process; each is a connection. */
const MAX_STREAMS = 50;
/** Those of one person, in all of the person's pages. */
const MAX_STREAMS_OF_ONE = 10;

/** Where the messages come from. */
export interface LiveViewTools {
  /** Rejects with `stopped` only. */
  readNow: () => Promise<StateNow>;
  readJobs: () => Promise<BulkJob[]>;
  /** When a process last wrote figures, as far as `readNow` has seen. */
  lastReportAt: () => number;
  /** True once the receiver stops. */
  isOver: () => boolean;
  failures: FailureLog;
  clock: Clock;
}

interface OpenStream extends Pick<Viewer, "name" | "payloads"> {
  sink: StreamSink;
  /** By the clock's `elapsed`, as `heardAt`. */
  until: number;
  heardAt: number;
}

/** A message for each access to payloads. */
type MessageTexts = Record<PayloadAccess, string>;

/**
 * Sends the state of the store to the open pages. It is read once for all of them, and only while there are some; what
 * has not changed is not sent.
 */
export class LiveView {
  readonly #tools: LiveViewTools;
  readonly #streams = new Set<OpenStream>();
  /** The last message of each kind, so that a new page gets it at once, and what must change for the next one. */
  readonly #sent = new Map<keyof StreamMessages, { texts: MessageTexts; mark: string }>();
  #timer: Timer | undefined;
  #isReading = false;

  constructor(tools: LiveViewTools) {
    this.#tools = tools;
  }

  isFullFor(person: Pick<Viewer, "name">): boolean {
    const own = [...this.#streams].filter(({ name }) => name === person.name);
    return this.#streams.size >= MAX_STREAMS || own.length >= MAX_STREAMS_OF_ONE;
  }

  /** Returns what is called when the client has gone. */
  open(sink: StreamSink, { name, payloads }: Pick<Viewer, "name" | "payloads">): () => void {
    const now = elapsedBy(this.#tools.clock);
    const stream = { sink, name, payloads, until: now + MAX_STREAM_MS, heardAt: now };
    this.#streams.add(stream);
    sink.write("retry: 2000\n\n");
    // What was read for pages that have gone is old.
    if (this.#streams.size === 1) this.#sent.clear();
    for (const { texts } of this.#sent.values()) sink.write(texts[payloads]);
    if (this.#timer === undefined && !this.#isReading) void this.#refresh();
    return () => this.#streams.delete(stream);
  }

  async #refresh(): Promise<void> {
    this.#timer = undefined;
    this.#isReading = true;
    await this.#readAll().then(
      () => undefined,
      // While the store cannot be read, the next state says why.
      (error: unknown) => this.#tools.failures.note(error, "dashboard_failed"),
    );
    this.#isReading = false;
    if (this.#tools.isOver()) this.#endAll();
    this.#keepAlive();
    if (this.#streams.size > 0) this.#timer = this.#tools.clock.setTimer(() => void this.#refresh(), REFRESH_MS);
  }

  async #readAll(): Promise<void> {
    const { readNow, readJobs, lastReportAt } = this.#tools;
    const now = await readNow();
    this.#send("now", () => now, { ...now, at: "", ...withoutSeconds(now) });
    const at = new Date(lastReportAt()).toISOString();
    this.#send("figures", () => ({ at }), at);
    if (now.trouble !== null) return;
    const jobs = await readJobs();
    const rowsFor = (payloads: PayloadAccess): BulkJob[] => jobs.map((job) => showJob(job, payloads));
    this.#send("jobs", (payloads) => ({ jobs: rowsFor(payloads) }), rowsFor("full"));
  }

  /** `compared`: what must have changed for the message to be sent. */
  #send<Kind extends keyof StreamMessages>(
    kind: Kind,
    messageFor: (payloads: PayloadAccess) => StreamMessages[Kind],
    compared: unknown,
  ): void {
    const mark = JSON.stringify(compared);
    if (this.#sent.get(kind)?.mark === mark) return;
    const textFor = (payloads: PayloadAccess): string =>
      `event: ${kind}\ndata: ${JSON.stringify(messageFor(payloads))}\n\n`;
    const texts = { hidden: textFor("hidden"), redacted: textFor("redacted"), full: textFor("full") };
    this.#sent.set(kind, { texts, mark });
    const at = elapsedBy(this.#tools.clock);
    for (const stream of this.#streams) this.#write(stream, texts[stream.payloads], at);
  }

  #write(stream: OpenStream, text: string, at: number): void {
    stream.heardAt = at;
    if (!stream.sink.write(text)) this.#streams.delete(stream);
  }

  #keepAlive(): void {
    const now = elapsedBy(this.#tools.clock);
    for (const stream of this.#streams) {
      if (now >= stream.until) this.#end(stream);
      else if (now - stream.heardAt >= HEARTBEAT_MS) this.#write(stream, ": still here\n\n", now);
    }
  }

  #endAll(): void {
    for (const stream of this.#streams) {
      stream.sink.write("event: end\ndata: {}\n\n");
      this.#end(stream);
    }
  }

  #end(stream: OpenStream): void {
    this.#streams.delete(stream);
    stream.sink.end();
  }
}

/** Ages change with each second; the page counts them on by itself, and shows the counts' own once they are old. */
function withoutSeconds({ at, store, endpoint, countedAgoMs }: StateNow) {
  return {
    countedAgoMs: countedAgoMs >= OLD_COUNTS_MS ? Date.parse(at) - countedAgoMs : 0,
    store: store && withoutAges(store),
    endpoint: { ...endpoint, silentForMs: null },
  };
}
