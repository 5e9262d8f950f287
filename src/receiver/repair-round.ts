import { DAY, MINUTE } from "../base/duration.js";
import type { RepairRound } from "../store/repair-rounds.js";
import { type RepairDeps, repairEndpoint } from "./repair-endpoint.js";
import type { MissingReason, RepairReport } from "./repair-report.js";

/** The service repeats most attempts that fail within minutes, and rows of the log may come late. */
const SETTLED_AFTER_MS = 10 * MINUTE;

/** The first round begins so far back, and what could not be brought in for so long is given up. */
const LOOK_BACK_MS = 7 * DAY;

/** What may arrive in a later round. */
const MAY_ARRIVE: ReadonlySet<MissingReason> = new Set(["not_replayed", "failed", "not_arrived"]);

/** Where a round begins. */
export interface RoundBegin {
  endpointId: string;
  /** Name of the source that has the endpoint's secret. */
  source: string;
  /** Where the round before has ended; undefined for the first. */
  comparedUntil: number | undefined;
  signal: AbortSignal;
}

/** What a round came to. The report is missing where there was nothing to compare yet. */
export interface RoundResult extends Omit<RepairRound, "at" | "endpointId"> {
  /** Where the next round begins. */
  comparedUntil: number | undefined;
  report?: RepairReport;
}

/**
 * Repairs what has failed since the last round. Where it ends is a time of the log if the clock is ahead of that, so
 * that a clock that is wrong leaves no gap. Rejects as `repairEndpoint` does.
 */
export async function makeRound(deps: RepairDeps, begin: RoundBegin): Promise<RoundResult> {
  const { client, inbox, clock } = deps;
  const { endpointId, source, comparedUntil, signal } = begin;
  const { items } = await client.webhooks.deliveries(endpointId, { limit: 1 }, { signal });
  const until = Math.floor(clock.now()) - SETTLED_AFTER_MS;
  const known = Math.ceil((await inbox.idsKnownSince()) ?? until);
  const since = Math.max(Math.min(comparedUntil ?? until - LOOK_BACK_MS, until), known);
  if (since >= until) return { ...NOTHING_MISSING, comparedUntil };
  const report = await repairEndpoint({ ...deps, failedBefore: until }, { endpointId, source, since, signal });
  const { missing, replayed, stillMissing } = report;
  const open = stillMissing.filter(({ reason }) => MAY_ARRIVE.has(reason));
  const openSince = open.map(({ firstFailedAt }) => timeOf(firstFailedAt, since));
  const newest = timeOf(items[0]?.createdAt, until) - SETTLED_AFTER_MS;
  const end = Math.min(until, newest, ...openSince.filter((at) => at > until - LOOK_BACK_MS));
  return {
    report,
    missing,
    replayed,
    stillMissing: stillMissing.length,
    refused: whyMissing(report),
    comparedUntil: Math.max(since, end),
  };
}

/** What a round came to that found nothing, or did not get so far. */
export const NOTHING_MISSING = { missing: 0, replayed: 0, stillMissing: 0, refused: null };

function timeOf(text: string | null | undefined, otherwise: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : time;
}

function whyMissing({ stopped, enabled, stillMissing, unnamedRows }: RepairReport): string | null {
  if (stopped !== undefined) return stopped;
  if (!enabled) return "endpoint_off";
  return stillMissing[0]?.reason ?? (unnamedRows > 0 ? "unnamed_rows" : null);
}
