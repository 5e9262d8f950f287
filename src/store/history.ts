import { nearestFirst } from "../base/nearest-word.js";
import { PigeonholeError } from "../base/error.js";
import { isPattern, matchesPattern } from "../protocol/event-pattern.js";
import type { JobChoice } from "./bulk-jobs.js";

/** Which stored events a handler gets that it never got. */
export interface PlanOptions {
  /** Name of the handler. */
  handler: string;
  /** Only events received since then, in milliseconds since 1970. @default as far back as there are any */
  since?: number | undefined;
  /** Only events received before then, in milliseconds since 1970. @default now */
  until?: number | undefined;
  /** Only events of these types, or patterns such as `email.*`. @default all types that the handler gets */
  types?: readonly string[] | undefined;
  /** Counts only. @default false */
  dryRun?: boolean | undefined;
}

/** How a history is planned. */
export interface HistoryRequest extends PlanOptions {
  /** The types that the handler gets. @default as its last receiver has said */
  handlerTypes?: readonly string[] | undefined;
  /** Who asks. */
  by: string;
}

/** What of a history there is to do. */
export interface PlannedHistory {
  /** Events that the handler gets. */
  events: number;
  /** Events that it would have got: retention or an erasure has dropped their bodies. */
  withoutBody: number;
  /** Id of the job, which the dashboard shows; null for a dry run, and where there are no events. */
  job: string | null;
}

/** The choice of a job that plans a history. */
export type HistoryOfJob = JobChoice & { handler: string; types: readonly string[] };

/** The events that a job has left: those after one number, up to another. */
export interface HistoryRange {
  after: number;
  through: number;
}

const MAX_TOLD = 10;

/**
 * The types to choose by. Throws `not_found` for a handler that no receiver has had, and `invalid_argument` for types
 * that it does not get: its code knows nothing of their data.
 */
export function typesOfHistory(
  { handler, types }: PlanOptions,
  { handlerTypes, known }: { handlerTypes: readonly string[] | undefined; known: readonly string[] },
): readonly string[] {
  if (handlerTypes === undefined) {
    const names = known.length === 0 ? "none" : nearestFirst(handler, known).slice(0, MAX_TOLD).join(", ");
    const text = `No receiver of this inbox has had a handler "${handler}". Known: ${names}. A new one is known once its receiver has started.`;
    throw new PigeonholeError("not_found", text);
  }
  const isForeign = (type: string): boolean =>
    !isPattern(type) || !handlerTypes.some((pattern) => matchesPattern(pattern, type));
  const chosen = types ?? handlerTypes;
  if (chosen.length > 0 && !chosen.some(isForeign)) return chosen;
  throw new PigeonholeError(
    "invalid_argument",
    `The handler "${handler}" gets ${handlerTypes.join(", ") || "what no other gets"}, and types must be among that, got ${chosen.join(", ") || "none"}.`,
  );
}
