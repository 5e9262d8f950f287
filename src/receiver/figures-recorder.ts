import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Dispatcher } from "../dispatch/dispatcher.js";
import type { RunRecord } from "../dispatch/handler-runs.js";
import type { Figures, ProcessStatus, RunningNow } from "../store/figures.js";
import type { Admission } from "./admission.js";
import type { AnswerWatch } from "./delivery-watch.js";
import type { ResolvedOptions } from "./options.js";

/** So many of the handlers that run are named. */
const MAX_RUNNING = 50;

export interface FiguresRecorderDeps {
  options: Pick<ResolvedOptions, "clock" | "role" | "silenceAfterMs">;
  answers: AnswerWatch;
  record: RunRecord;
  admission: Admission;
  dispatcher: Pick<Dispatcher, "waitsFor">;
}

/** Reads from the parts of a receiver what happens in it. They count anyway, so a delivery costs nothing more. */
export class FiguresRecorder {
  readonly #deps: FiguresRecorderDeps;
  /** Names this receiver among all that use the store. */
  readonly process = randomUUID();
  readonly #startedAt: number;
  #answers: Readonly<Record<string, number>> = {};

  constructor(deps: FiguresRecorderDeps) {
    this.#deps = deps;
    this.#startedAt = deps.options.clock.now();
  }

  /** What happened since the last call, without gauges. */
  take(): Figures {
    const { answers, record } = this.#deps;
    return {
      answers: this.#takeAnswers(),
      answerTimes: answers.takeAnswerTimes(),
      runs: record.takeEndedRuns(),
      gauges: undefined,
    };
  }

  /** What this process says about itself now. */
  get status(): ProcessStatus {
    const { options, answers, admission, dispatcher } = this.#deps;
    const running = this.#running;
    return {
      process: this.process,
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

  #takeAnswers(): Figures["answers"] {
    const { counts } = this.#deps.answers;
    const before = this.#answers;
    this.#answers = counts;
    return Object.fromEntries(
      Object.entries(counts).flatMap(([kind, count]) => {
        const since = count - (before[kind] ?? 0);
        return since === 0 ? [] : [[kind, since]];
      }),
    );
  }

  /** The longest-running first. */
  get #running(): RunningNow[] {
    const now = this.#deps.options.clock.now();
    return this.#deps.record.running
      .map(({ handler, eventId, forMs }) => ({ handler, eventId, since: Math.round(now - forMs) }))
      .toSorted((one, other) => one.since - other.since);
  }
}
