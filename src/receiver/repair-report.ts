import type { LostEvent } from "./lost-events.js";
import type { OffPeriod } from "./off-periods.js";

/**
 * Why an event is still missing. `not_replayed`: nothing was replayed, or the repair ended before. `may_repeat`: it may
 * be older than what the inbox knows, or an attempt has delivered it and the inbox has lost it since. `failed`: the
 * receiver did not answer the replay with 2xx. `not_arrived`: it did, or the service does not say, and the inbox does
 * not have the event. `refused`, `gone`: the service does not replay it, or no longer has it.
 */
export type MissingReason = "not_replayed" | "may_repeat" | "failed" | "not_arrived" | "refused" | "gone";

/** An event that the repair did not bring into the inbox. */
export interface MissingEvent extends LostEvent {
  /** Why it is missing. */
  reason: MissingReason;
}

/** What a repair found and did. Of events it names ids and types only. */
export interface RepairReport {
  /** Id of the endpoint. */
  endpointId: string;
  /** Whether the endpoint is on now, as far as the repair knows. */
  enabled: boolean;
  /** True if the repair switched it on. */
  switchedOn: boolean;
  /** Events with a failed attempt since then, as far as the delivery log reaches back. */
  found: number;
  /** Those of them that the inbox lacked. */
  missing: number;
  /** Those of the missing ones that the service was asked to deliver again. */
  replayed: number;
  /** Those of the missing ones that the inbox has now. */
  arrived: number;
  /** The others. */
  stillMissing: MissingEvent[];
  /**
   * Why the repair ended early: the endpoint is off, or the receiver failed to take several events in a row or was one
   * failure away from being switched off, or half the way in a round of the option `repair`. Undefined if it did not.
   */
  stopped: "endpoint_off" | "replays_fail" | undefined;
  /** Rows of the log that name no event, so that they could not be compared with the inbox. */
  unnamedRows: number;
  /** False if the log has no row from before `since`: it may not reach back so far, and older losses are not in it. */
  logReachesBack: boolean;
  /**
   * When the endpoint was off. The log may have no rows of events that were fired then; what it does not have cannot be
   * repaired.
   */
  offPeriods: OffPeriod[];
}
