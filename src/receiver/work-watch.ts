import { openIn } from "./store-counter.js";
import type { Clock } from "../base/clock.js";
import { HOUR } from "../base/duration.js";
import type { EventView } from "../store/inbox-view.js";
import type { Alarm } from "./alarm-table.js";
import type { AlarmChange, Watch } from "./alarms.js";
import type { StoreFigures } from "./store-counter.js";

/** An unchanged problem is reported again after this. */
const REMIND_MS = 6 * HOUR;

/** What is known at one moment; a field that is left out is not known. */
export interface WorkReading {
  /** Work parked since the start of the process, because others had died in it. */
  crashLoops?: number;
  /** For how long nothing was accepted. */
  silentForMs?: number;
  figures?: StoreFigures | undefined;
  /** The newest parked events. */
  parked?: readonly EventView[] | undefined;
  /** Work that waits for handlers that are not registered, by handler. */
  missing?: Readonly<Record<string, number>> | undefined;
}

/** A problem that a count shows: it is raised when the count grows, and again after a while. */
interface Problem {
  kind: Alarm["kind"];
  /** Undefined when not enough is known: then the next reading raises it. */
  alarm: Alarm | undefined;
  /** 0 when there is none. */
  count: number;
  againMs: number;
}

/** The receiver's options. */
interface Limits {
  backlogAfterMs: number;
  silenceAfterMs: number | undefined;
}

/** Looks for what makes no progress: nothing else shows it, because deliveries are still answered. */
export class WorkWatch implements Watch<WorkReading> {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #reported = new Map<Alarm["kind"], { count: number; at: number }>();

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  look(reading: WorkReading): readonly AlarmChange[] {
    return problemsOf(reading, this.#limits).flatMap((problem) => this.#report(problem));
  }

  #report({ kind, alarm, count, againMs }: Problem): readonly AlarmChange[] {
    const now = this.#clock.now();
    const last = this.#reported.get(kind);
    if (count === 0) return this.#reported.delete(kind) ? [{ over: kind }] : [];
    if (last !== undefined && count <= last.count) {
      last.count = count;
      // A time in the future is from a clock that has since been set back.
      if (now >= last.at && now - last.at < againMs) return [];
    }
    if (alarm === undefined) return [];
    this.#reported.set(kind, { count, at: now });
    return [alarm];
  }
}

function problemsOf(reading: WorkReading, { backlogAfterMs, silenceAfterMs = Infinity }: Limits): Problem[] {
  const { crashLoops, silentForMs, missing, figures } = reading;
  const problems: Problem[] = [];
  const note = (alarm: Alarm, count: number, againMs = REMIND_MS): void =>
    void problems.push({ kind: alarm.kind, alarm, count, againMs });
  if (crashLoops !== undefined) note({ kind: "crash_loop", parked: crashLoops }, crashLoops, Infinity);
  if (silentForMs !== undefined) {
    note({ kind: "silence", sinceMs: silentForMs }, Number(silentForMs >= silenceAfterMs), silenceAfterMs);
  }
  if (missing !== undefined) {
    const handlers = Object.keys(missing);
    const pending = Object.values(missing).reduce((sum, count) => sum + count, 0);
    note({ kind: "handler_missing", handlers, pending }, handlers.length);
  }
  if (figures === undefined) return problems;
  const { dead, lagMs, outbox } = figures;
  note({ kind: "work_dead", dead }, dead);
  note({ kind: "contact_events_dead", dead: outbox.dead }, outbox.dead);
  note({ kind: "backlog", forMs: lagMs, pending: openIn(figures) }, Number(lagMs > backlogAfterMs), backlogAfterMs);
  const stuck = { forMs: outbox.oldestAgeMs, pending: openIn(outbox) };
  note({ kind: "contact_events_stuck", ...stuck }, Number(stuck.forMs > backlogAfterMs), backlogAfterMs);
  if (figures.repair !== undefined) {
    const { at, ...round } = figures.repair;
    // Each round that misses some is news.
    note({ kind: "events_missed", ...round }, round.missing > 0 || round.refused !== null ? at : 0, Infinity);
  }
  const alarm = parkedWork(figures.parked, reading.parked);
  return [...problems, { kind: "work_parked", alarm, count: figures.parked, againMs: REMIND_MS }];
}

/** With the reason of the newest events, which is usually that of all. */
function parkedWork(parked: number, events: readonly EventView[] = []): Alarm | undefined {
  const [reason] = events.flatMap(reasonsOf);
  if (reason === undefined) return undefined;
  const types = new Set(events.filter((event) => reasonsOf(event).includes(reason)).map(({ type }) => type));
  // What is not JSON has none.
  types.delete("");
  return { kind: "work_parked", reason, types: [...types], parked };
}

function reasonsOf({ handlers }: EventView): string[] {
  return handlers.flatMap(({ state, reason }) => (state === "parked" && reason !== null ? [reason] : []));
}
