import type { GateName, ReportedStatus } from "./figures.js";
import type { EventView, HandlerView } from "./inbox-view.js";
import { isAlive, isEnded } from "./process-state.js";
import { isWaiting, stateOfEvent } from "./state-words.js";

/** They open at a time. Others open when a run ends, so that leased work may run by now. */
const OPEN_IN_TIME: ReadonlySet<GateName | null> = new Set(["batch", "rate"] as const);

/** What people and processes say of handlers. */
interface Said {
  paused: ReadonlySet<string>;
  statuses: readonly ReportedStatus[];
  now: number;
}

/** The event with what its open work waits for, as the processes that live said last. */
export function withGates<Event extends EventView>(event: Event, { paused, statuses, now }: Said): Event {
  const alive = statuses.filter((status) => !isEnded(status) && isAlive(status, now));
  const mayRun = (handler: string): boolean =>
    alive.some(
      ({ running, runningCount }) =>
        runningCount > running.length || running.some((run) => run.handler === handler && run.eventId === event.id),
    );
  const gateOf = ({ handler, state, dueAt, waitsFor: ownWait }: HandlerView): GateName | null => {
    if (isWaiting(state) && paused.has(handler)) return "paused";
    if (!isWaiting(state) && (state !== "running" || mayRun(handler))) return null;
    // What became due since then was not meant.
    const since = dueAt === null ? 0 : Date.parse(dueAt);
    const said = alive.find(({ waitsFor, reportedAt }) => Object.hasOwn(waitsFor, handler) && reportedAt >= since);
    return said?.waitsFor[handler] ?? ownWait;
  };
  const handlers = event.handlers.map((work) => withGate(work, gateOf(work)));
  return { ...event, state: stateOfEvent(handlers), handlers };
}

/** Work that is leased, and has not begun, has had no run for that. */
function withGate(work: HandlerView, waitsFor: GateName | null): HandlerView {
  if (work.state !== "running" || !OPEN_IN_TIME.has(waitsFor)) return { ...work, waitsFor };
  const attempts = work.attempts - 1;
  return { ...work, state: attempts > 0 && work.error !== null ? "retrying" : "pending", attempts, waitsFor };
}
