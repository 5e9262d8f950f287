/*
 * GET  api/handlers?since=                     → HandlerReport
 * POST api/handlers/pause {handler}            → PauseReport
 * POST api/handlers/resume {handler}           → HandlerReport
 */
import type { HandlerTimes } from "../../store/handler-times.js";

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
