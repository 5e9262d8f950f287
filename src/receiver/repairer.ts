import type { Clock, Timer } from "../base/clock.js";
import { DAY, HOUR, MINUTE, SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { Client } from "../client/call-types.js";
import { LIMITS } from "../protocol/limits.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { findIds } from "../store/find-in-inbox.js";
import type { RepairRound } from "../store/repair-rounds.js";
import { type RepairDeps, repairEndpoint } from "./repair-endpoint.js";
import type { MissingReason, RepairReport } from "./repair-report.js";
import type { SecretSource } from "./secret-source.js";

/** By then the app listens, so that it can be sent what is missing. */
const FIRST_AFTER_MS = MINUTE;
const MIN_WAIT_MS = SECOND;

/** A round that takes longer, or whose process has died, lets another one begin; an event takes effect once. */
const MIN_CLAIM_MS = HOUR;

/** The service repeats most attempts that fail within minutes, and rows of the log may come late. */
const SETTLED_AFTER_MS = 10 * MINUTE;

/** The first round begins so far back, and what could not be brought in for so long is given up. */
const LOOK_BACK_MS = 7 * DAY;

/** Rounds add failures in a row as long as nobody looks; the other half is left to ordinary deliveries. */
const MAX_CONSECUTIVE = LIMITS.disableAfterFailures / 2;

/** What may arrive in a later round. */
const MAY_ARRIVE: ReadonlySet<MissingReason> = new Set(["not_replayed", "failed", "not_arrived"]);

/** What a round came to, and where the next one begins. */
type RoundResult = Omit<RepairRound, "at" | "endpointId"> & { comparedUntil: number | undefined };

/** What a round came to that found nothing. */
const NOTHING_MISSING = { missing: 0, replayed: 0, stillMissing: 0, refused: null };

export interface RepairerDeps {
  client: Client;
  /** The endpoint, the name of its secret, and the milliseconds from one round to the next. */
  repair: { endpointId: string; source: string; every: number };
  secrets: Pick<SecretSource, "checkSource">;
  operator: InboxOperator;
  clock: Clock;
  logger: Logger;
}

/**
 * Makes the rounds of the option `repair`. All processes with the option ask the store at the same times, and one of
 * them makes the round: one event after the other, beside deliveries.
 */
export class Repairer {
  readonly #deps: RepairerDeps;
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  /** Never rejects. */
  #round: Promise<void> = Promise.resolve();

  constructor(deps: RepairerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#wait(Math.min(FIRST_AFTER_MS, this.#deps.repair.every));
  }

  /** Ends the round under way. Never rejects. */
  stop(): Promise<void> {
    this.#stop.abort();
    this.#timer?.cancel();
    return this.#round;
  }

  #wait(delayMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = this.#deps.clock.setTimer(() => {
      this.#round = this.#run().then((waitMs) => this.#wait(waitMs));
    }, delayMs);
  }

  /** Makes the round unless another process does. Resolves with the time to the next. */
  async #run(): Promise<number> {
    const { operator, repair } = this.#deps;
    const { endpointId, every } = repair;
    try {
      const { isClaimed, dueInMs, comparedUntil } = await operator.claimRepair({
        endpointId,
        forMs: Math.max(every, MIN_CLAIM_MS),
      });
      if (!isClaimed) return Math.max(MIN_WAIT_MS, Math.min(dueInMs, every));
      const made = await this.#make(comparedUntil);
      if (made !== undefined) await operator.endRepair({ endpointId, dueInMs: every, ...made });
    } catch (error) {
      this.#logFailure(errorFields(error, true));
    }
    return every;
  }

  /** Rejects as the inbox does; undefined when it was stopped. */
  async #make(comparedUntil: number | undefined): Promise<RoundResult | undefined> {
    let ids: readonly string[] = [];
    try {
      return await this.#compare(comparedUntil, (found) => (ids = found));
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined;
      const fields = errorFields(error, false);
      this.#logFailure(fields);
      // It may have ended between two replays.
      const { length: replayed } = await findIds(this.#deps.operator, { source: this.#deps.repair.source, ids });
      const counts = { missing: ids.length, replayed, stillMissing: ids.length - replayed };
      return { ...counts, refused: String(fields["code"] ?? fields["error"]), comparedUntil };
    }
  }

  /**
   * Repairs what has failed since the last round. Where it ends is a time of the log if the clock is ahead of that, so
   * that a clock that is wrong leaves no gap. Rejects as `repairEndpoint` does.
   */
  async #compare(comparedUntil: number | undefined, onReplay: RepairDeps["onReplay"]): Promise<RoundResult> {
    const { client, operator: inbox, clock, logger, repair, secrets } = this.#deps;
    const { endpointId, source } = repair;
    const { signal } = this.#stop;
    secrets.checkSource("repair.source", source);
    const { items } = await client.webhooks.deliveries(endpointId, { limit: 1 }, { signal });
    const until = Math.floor(clock.now()) - SETTLED_AFTER_MS;
    const known = Math.ceil((await inbox.idsKnownSince()) ?? until);
    const since = Math.max(Math.min(comparedUntil ?? until - LOOK_BACK_MS, until), known);
    if (since >= until) return { ...NOTHING_MISSING, comparedUntil };
    const given = { endpointId, source, since, signal };
    const deps = { client, inbox, clock, failedBefore: until, maxConsecutive: MAX_CONSECUTIVE, onReplay };
    const report = await repairEndpoint(deps, given);
    const { missing, replayed, stillMissing } = report;
    const open = stillMissing.filter(({ reason }) => MAY_ARRIVE.has(reason));
    const openSince = open.map(({ firstFailedAt }) => timeOf(firstFailedAt, since));
    const newest = timeOf(items[0]?.createdAt, until) - SETTLED_AFTER_MS;
    const end = Math.min(until, newest, ...openSince.filter((at) => at > until - LOOK_BACK_MS));
    const counts = { missing, replayed, stillMissing: stillMissing.length, refused: whyMissing(report) };
    // The command names the events, with --dry-run.
    if (missing > 0 || counts.refused !== null) logger.warn({ ...report, ...counts }, "events_repaired");
    return { ...counts, comparedUntil: Math.max(since, end) };
  }

  #logFailure(fields: object): void {
    if (!this.#stop.signal.aborted) this.#deps.logger.warn(fields, "repair_failed");
  }
}

function timeOf(text: string | null | undefined, otherwise: number): number {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? otherwise : time;
}

function whyMissing({ stopped, enabled, stillMissing, unnamedRows }: RepairReport): string | null {
  if (stopped !== undefined) return stopped;
  if (!enabled) return "endpoint_off";
  return stillMissing[0]?.reason ?? (unnamedRows > 0 ? "unnamed_rows" : null);
}
