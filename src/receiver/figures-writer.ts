import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Timer, elapsedBy, waitingClock } from "../base/clock.js";
import { MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import { inTime } from "../base/wait.js";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { RunRecord } from "../dispatch/handler-runs.js";
import { NO_FIGURES, addToRow, stepAt, sumFigures } from "../store/figure-rows.js";
import { toFigureSeries } from "../store/figure-series.js";
import {
  type FigureSeries,
  type FiguresWrite,
  type Gauges,
  type ProcessStatus,
  type RunningNow,
  SHORT_STEPS,
} from "../store/figures.js";
import type { Admission } from "./admission.js";
import type { AnswerWatch } from "./delivery-watch.js";
import type { ResolvedOptions } from "./options.js";
import type { StoreCounter } from "./store-counter.js";

/** A process that is killed loses the figures of so long. */
const BETWEEN_WRITES_MS = 10 * SECOND;
/** A process that has nothing to say writes that it lives; the timer may be a little early. */
const HEARTBEAT_MS = MINUTE - SECOND;
/** A stop waits no longer for a write. */
const STOPS_WITHIN_MS = SECOND;

/** So many of the handlers that run are named. */
const MAX_RUNNING = 50;

interface FiguresWriterDeps {
  options: Pick<ResolvedOptions, "store" | "clock" | "logger" | "role" | "silenceAfterMs">;
  counter: StoreCounter;
  answers: AnswerWatch;
  record: RunRecord;
  admission: Admission;
  dispatcher: Pick<Dispatcher, "waitsFor">;
}

/**
 * Writes to the store what happens in this process: at most once in 10 s, and once a minute while nothing changes. The
 * parts of the receiver count anyway, so a delivery costs nothing more, and nothing waits for a write. What cannot be
 * written goes with the next one, so that the dashboard shows what happened while the store failed. What a store has
 * written although it gave no answer is counted twice then.
 */
export class FiguresWriter {
  readonly #deps: FiguresWriterDeps;
  /** Names this receiver among all that use the store. */
  readonly #process = randomUUID();
  readonly #startedAt: number;
  #timer: Timer | undefined;
  #hasStarted = false;
  #stopped = false;
  #hasFailed = false;
  /** Undefined while none is under way; never rejects. */
  #writing: Promise<void> | undefined;
  /** What happened in the last hour, for as long as nobody can read it in the store: by the begin of the step. */
  readonly #recent = new Map<number, string>();
  #unwritten = NO_FIGURES;
  #writtenAt = -Infinity;
  /** What was last written, as far as a change of it is worth a write. */
  #said = "";

  constructor(deps: FiguresWriterDeps) {
    this.#deps = deps;
    this.#startedAt = deps.options.clock.now();
  }

  start(): void {
    if (this.#stopped) return;
    this.#hasStarted = true;
    this.#timer = this.#deps.options.clock.setTimer(() => {
      this.#take();
      // A store that hangs must not keep what happens meanwhile out of its steps.
      this.#writing ??= this.#writeChanged().finally(() => (this.#writing = undefined));
      this.start();
    }, BETWEEN_WRITES_MS);
  }

  /**
   * Writes what is left, and that this process has gone. The write under way comes first, so that it is not what the
   * store has in the end. Never rejects. A store that hangs is not waited for: its writes end with its close.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    if (!this.#hasStarted) return;
    if (this.#writing !== undefined) await inTime(this.#writing, waitingClock, STOPS_WITHIN_MS);
    this.#take();
    const kept = this.#keep(this.#deps.counter.gauges, { status: undefined, last: this.status });
    await inTime(kept, waitingClock, STOPS_WITHIN_MS);
  }

  /** What this process says about itself now. */
  get status(): ProcessStatus {
    const { options, answers, admission, dispatcher } = this.#deps;
    const running = this.#running;
    return {
      process: this.#process,
      host: hostname(),
      pid: process.pid,
      state: admission.state,
      role: options.role,
      startedAt: this.#startedAt,
      failuresInARow: answers.failuresInARow,
      failureTimes: answers.failureTimes,
      lastSuccessAt: answers.lastSuccessAt,
      lastAcceptedAt: answers.lastAcceptedAt,
      silenceAfterMs: options.silenceAfterMs,
      waiting: admission.waiting,
      runningCount: running.length,
      running: running.slice(0, MAX_RUNNING),
      waitsFor: dispatcher.waitsFor,
    };
  }

  /** The longest-running first. */
  get #running(): RunningNow[] {
    const now = this.#deps.options.clock.now();
    return this.#deps.record.running
      .map(({ handler, eventId, forMs }) => ({ handler, eventId, since: Math.round(now - forMs) }))
      .toSorted((one, other) => one.since - other.since);
  }

  /** What happened in this process in the last hour, from memory: without gauges. */
  get recent(): FigureSeries {
    this.#take();
    const rows = [...this.#recent].map(([step, figures]) => ({ step, figures }));
    return toFigureSeries(rows, { range: "1h", now: this.#deps.options.clock.now() });
  }

  /** Never rejects. */
  async #writeChanged(): Promise<void> {
    const { counter, options } = this.#deps;
    const gauges = await counter.readGauges({ isBusy: this.#hasUnwritten || this.#running.length > 0 });
    if (this.#stopped) return;
    const { status } = this;
    // Ages change all the time, and the disk a little.
    const said = JSON.stringify([status, gauges?.backlog.depth, gauges?.outbox.depth]);
    const isDue = elapsedBy(options.clock) - this.#writtenAt >= HEARTBEAT_MS;
    if (!isDue && !this.#hasUnwritten && said === this.#said) return;
    if (await this.#keep(gauges, { status })) this.#said = said;
  }

  /** Adds what happened to what is to be written. */
  #take(): void {
    const { answers, record, options } = this.#deps;
    const figures = { ...answers.takeCounts(), runs: record.takeEndedRuns(), gauges: undefined };
    this.#unwritten = sumFigures(this.#unwritten, figures);
    const { stepMs, keptMs } = SHORT_STEPS;
    const step = stepAt(options.clock.now(), stepMs);
    this.#recent.set(step, addToRow(this.#recent.get(step), figures));
    for (const at of this.#recent.keys()) if (at > step || at <= step - keptMs) this.#recent.delete(at);
  }

  get #hasUnwritten(): boolean {
    const { answers, runs } = this.#unwritten;
    return Object.keys(answers).length > 0 || runs.size > 0;
  }

  /** False, with one line of the log, if not all could be written. */
  async #keep(gauges: Gauges | undefined, said: Pick<FiguresWrite, "status" | "last">): Promise<boolean> {
    const { store, clock, logger } = this.#deps.options;
    const figures = this.#unwritten;
    this.#unwritten = NO_FIGURES;
    try {
      const write = { process: this.#process, now: clock.now(), figures: { ...figures, gauges } };
      await store.writeFigures({ ...write, ...said });
      this.#writtenAt = elapsedBy(clock);
      this.#hasFailed = false;
    } catch (error) {
      this.#unwritten = sumFigures(figures, this.#unwritten);
      // Not each of them: a store that fails reports it elsewhere.
      if (!this.#hasFailed) logger.warn(errorFields(error, true), "figures_not_kept");
      this.#hasFailed = true;
    }
    return !this.#hasFailed;
  }
}
