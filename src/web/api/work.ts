/*
 * GET  api/events?state=&handler=&type=&source=&error=&text=&since=&until=&errorGroup=&cursor= → ListedEventPage
 * GET  api/errors?handler=&type=&state=&since=&until=&cursor= → ErrorGroupList, each group with all steps of the time
 * GET  api/running                             → RunningWork
 * GET  api/handlers?since=                     → HandlerReport
 * POST api/handlers/pause {handler}            → PauseReport
 * POST api/handlers/resume {handler}           → HandlerReport
 */
import type { RunningRow } from "../../operator/figures-now.js";
import type { EventView } from "../../store/inbox-view.js";
import type { HandlerTimes } from "../../store/handler-times.js";
import type { WORK_FILTERS } from "../../store/filters.js";
import type { EventState } from "../../store/state-words.js";

/** So many events, or contact events, are chosen one by one at most; a filter chooses any number. */
export const MAX_CHOSEN = 500;

/** Which work of events: what fits each field that is given, all of them texts; times are ISO 8601. */
export interface WorkFilter extends Partial<Record<keyof typeof WORK_FILTERS, string | undefined>> {
  state?: EventState | undefined;
  /** Exactly these events, {@link MAX_CHOSEN} at most: a selection. */
  ids?: string[] | undefined;
}

/** An event in the list. */
export interface ListedEvent extends EventView {
  /** When its next run is due, ISO 8601; null when none waits. */
  nextRunAt: string | null;
  /** What it is about, as its payload may be shown; null where that is hidden, dropped, large or not found. */
  subject: string | null;
}

export interface ListedEventPage {
  items: ListedEvent[];
  nextCursor: string | null;
}

/** The longest-running first. */
export interface RunningWork {
  items: RunningRow[];
  /** True when there are more than are listed: each process reports 50. */
  hasMore: boolean;
}

export interface HandlerReport {
  handlers: HandlerRow[];
}

export interface PauseReport extends HandlerReport {
  /** False when no work and no receiver of the store knows the name: it is paused, as it may be new. */
  isKnown: boolean;
  /** The names that are known, unless it is one. */
  knownHandlers?: string[];
}

/** A handler that is registered here, or has work in the store. */
export interface HandlerRow {
  handler: string;
  /** Null while it runs as usual. */
  paused: PausedHandlerRow | null;
  pending: number;
  /** Of its runs since then, by default of the last 24 hours; null without one. */
  times: HandlerTimes | null;
  /** True when half of these runs failed, or more. */
  isFailing: boolean;
  /**
   * Of its unfinished work: name or code of what failed last, and when, ISO 8601. Null where nothing has failed, or
   * 50 other errors since; the text is in the list of errors.
   */
  lastError: { kind: string; at: string } | null;
}

export interface PausedHandlerRow {
  handler: string;
  /** Since when, ISO 8601. */
  since: string;
  /** Name of the person, or `cli`. */
  by: string;
  /** Work that waits for it. */
  pending: number;
}
