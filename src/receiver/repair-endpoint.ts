import { type Clock, elapsedBy, waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { PigeonholeError } from "../base/error.js";
import { checkWholeNumber } from "../base/option-check.js";
import { type OptionsOf, type Resolved, defineOptions, flag, given, required, wholeNumber } from "../base/options.js";
import { sleep } from "../base/wait.js";
import type { Client } from "../client/call-types.js";
import type { WebhookEndpoint } from "../contract/webhook-endpoint.js";
import { LIMITS } from "../protocol/limits.js";
import { type KnownIds, findIds } from "../store/find-in-inbox.js";
import { EventReplayer, type Replayed } from "./event-replayer.js";
import { type LoggedLoss, findLostEvents } from "./lost-events.js";
import {
  type MissingEvent,
  type MissingReason,
  type RepairReport,
  listChanges,
  readOffPeriods,
} from "./repair-report.js";

/** Which endpoint is repaired, and how far back. */
export interface RepairOptions {
  /** Id of the endpoint, `whe_` and 24 hex digits. */
  endpointId: string;
  /** Name of the endpoint's secret, where `secrets` has names. @default "" */
  source?: string | undefined;
  /**
   * Begin of the outage, in milliseconds since 1970: failed attempts since then are looked at. A time in the future is
   * refused, unless the log has attempts since then, as it may where clocks differ.
   */
  since: number;
  /** Switches the endpoint on if it is off; nothing is replayed to an endpoint that is off. @default false */
  enable?: boolean | undefined;
  /**
   * Allows a `since` before the time from which the inbox has all ids, and replays events that may be from before, that
   * the log has only replays of, or that a later attempt has delivered: they may have been handled and forgotten, and
   * would be handled again.
   * @default false
   */
  mayRepeat?: boolean | undefined;
  /** Looks only: nothing is switched on or replayed. @default false */
  dryRun?: boolean | undefined;
  /** How long to wait for replayed events to arrive, in milliseconds, once all are replayed. @default 30,000 */
  waitMs?: number | undefined;
  /** Ends the repair, which can be begun again at any time. @default none */
  signal?: AbortSignal | undefined;
}

/** The defaults and checks of {@link RepairOptions}. */
export const REPAIR_OPTIONS = defineOptions("repair", {
  endpointId: required<string>(),
  source: given<string>({ default: "" }),
  since: required<number>(),
  enable: flag({ default: false }),
  mayRepeat: flag({ default: false }),
  dryRun: flag({ default: false }),
  waitMs: wholeNumber({ default: 30 * SECOND, min: 0 }),
  signal: given<AbortSignal>(),
} satisfies OptionsOf<RepairOptions>);

/** The latest time that JavaScript can write as a date. */
const MAX_DATE = 8_640_000_000_000_000;

const LOOK_EVERY_MS = SECOND / 4;

/** What a repair works with. */
export interface RepairDeps {
  /** A client whose key has the scopes `webhooks:read` and, to change anything, `webhooks:write`. */
  client: Pick<Client, "webhooks">;
  /** The inbox of the endpoint's receiver. */
  inbox: KnownIds;
  /** Tells what is in the future. */
  clock: Pick<Clock, "now">;
  /** Attempts that failed then or later are left out, in milliseconds since 1970. @default none */
  failedBefore?: number | undefined;
  /** Failures in a row that replays may bring the endpoint to. @default one less than switch it off */
  maxConsecutive?: number | undefined;
  /** Called before the events with these ids are replayed. @default nothing is */
  onReplay?: ((ids: readonly string[]) => void) | undefined;
}

/** A repair, and what it goes by. */
interface Repair {
  deps: RepairDeps;
  options: Resolved<typeof REPAIR_OPTIONS>;
  /** As it is now. */
  endpoint: WebhookEndpoint;
}

/**
 * Brings events into the inbox that the service failed to deliver. Everything it goes by is in the log and the inbox,
 * so it can end at any moment and run again, and an event takes effect once. Rejects as the API calls do, and with
 * `invalid_option`, or with `invalid_argument` for a `since` that is in the future or needs `mayRepeat`.
 */
export async function repairEndpoint(deps: RepairDeps, given: RepairOptions): Promise<RepairReport> {
  const options = REPAIR_OPTIONS.resolve(given);
  const { client, inbox } = deps;
  const { endpointId, since, mayRepeat, signal } = options;
  checkWholeNumber("since", since, { min: 0, max: MAX_DATE });
  if (!mayRepeat) requireKnown(since, await inbox.idsKnownSince());
  const found = await client.webhooks.get(endpointId, { signal });
  await requirePast(deps, options);
  const sinceText = new Date(since).toISOString();
  const changes = await listChanges(client, { id: endpointId, since: sinceText, signal });
  const isToSwitch = options.enable && !options.dryRun && !found.enabled;
  // First of all: what is fired while it is off is lost.
  const endpoint = isToSwitch ? await client.webhooks.update(endpointId, { enabled: true }, { signal }) : found;
  const before = await client.webhooks.deliveries(endpointId, { until: sinceText, limit: 1 }, { signal });
  const report = await repairLost({ deps, options, endpoint });
  return {
    ...report,
    endpointId,
    switchedOn: isToSwitch && endpoint.enabled,
    logReachesBack: before.items.length > 0,
    offPeriods: readOffPeriods(changes, found),
  };
}

type LossReport = Omit<RepairReport, "endpointId" | "switchedOn" | "logReachesBack" | "offPeriods">;

/** Compares the log with the inbox, replays what is missing, and waits for its arrival. */
async function repairLost(repair: Repair): Promise<LossReport> {
  const { deps, options, endpoint } = repair;
  const { inbox, failedBefore } = deps;
  const { mayRepeat, dryRun, source } = options;
  const { found, unnamed, lost } = await findLostEvents({ ...deps, ...options, failedBefore, atAnyTime: mayRepeat });
  // Only now: retention may have removed ids before they were looked for.
  const knownSince = await inbox.idsKnownSince();
  const isSafe = ({ firedAfter, wasDelivered }: LoggedLoss): boolean =>
    mayRepeat || (!wasDelivered && firedAfter >= (knownSince ?? Infinity));
  const toReplay = lost.filter(isSafe);
  const missing = lost.map((event) => toMissing(event, isSafe(event) ? "not_replayed" : "may_repeat"));
  const report: LossReport = {
    enabled: endpoint.enabled,
    found,
    missing: lost.length,
    replayed: 0,
    arrived: 0,
    stillMissing: missing,
    stopped: undefined,
    unnamedRows: unnamed,
  };
  if (dryRun || toReplay.length === 0) return report;
  if (!endpoint.enabled) return { ...report, stopped: "endpoint_off" };
  deps.onReplay?.(toReplay.map(({ id }) => id));
  const { results, stopped } = await replayAll(repair, toReplay);
  const sent = [...results].flatMap(([id, { reason }]) => (reason === "not_arrived" ? [id] : []));
  await untilArrived(inbox, sent, options);
  const arrived = new Set(await findIds(inbox, { source, ids: missing.map(({ id }) => id) }));
  return {
    ...report,
    enabled: stopped !== "endpoint_off",
    replayed: results.size,
    arrived: arrived.size,
    stillMissing: missing.filter(({ id }) => !arrived.has(id)).map((event) => ({ ...event, ...results.get(event.id) })),
    stopped,
  };
}

/** Replays one event after the other, and notes why each would be missing afterwards. */
async function replayAll({ deps, options, endpoint }: Repair, lost: readonly LoggedLoss[]) {
  const { client, maxConsecutive = LIMITS.disableAfterFailures - 1 } = deps;
  const replayer = new EventReplayer(client, endpoint, maxConsecutive, options.signal);
  const results = new Map<string, Exclude<Replayed, "off">>();
  for (const { id, rowId } of lost) {
    if (replayer.isFailing) return { results, stopped: "replays_fail" as const };
    const replayed = await replayer.replay(rowId);
    if (replayed === "off") return { results, stopped: "endpoint_off" as const };
    results.set(id, replayed);
  }
  return { results, stopped: undefined };
}

/** Returns once the inbox has all of the events, or the time is over. */
async function untilArrived(
  inbox: KnownIds,
  ids: readonly string[],
  { source, waitMs, signal }: Pick<Resolved<typeof REPAIR_OPTIONS>, "source" | "waitMs" | "signal">,
): Promise<void> {
  const endsAt = elapsedBy(waitingClock) + waitMs;
  let missing = ids;
  for (;;) {
    const arrived = new Set(await findIds(inbox, { source, ids: missing }));
    missing = missing.filter((id) => !arrived.has(id));
    const leftMs = endsAt - elapsedBy(waitingClock);
    if (missing.length === 0 || leftMs <= 0) return;
    await sleep(waitingClock, Math.min(LOOK_EVERY_MS, leftMs), signal);
  }
}

/** Throws if the inbox may have handled and forgotten events since then. */
function requireKnown(since: number, knownSince: number | undefined): void {
  if (knownSince !== undefined && since >= knownSince) return;
  const what =
    knownSince === undefined
      ? "No receiver has used the inbox yet, so it does not know which events were handled."
      : `The inbox has the ids of all events since ${new Date(knownSince).toISOString()}; begin then or later.`;
  throw new PigeonholeError(
    "invalid_argument",
    `${what} Events from before may have been handled and forgotten, or handled with another inbox, and would be handled again. Where that cannot be, or does no harm, allow it with mayRepeat.`,
  );
}

/** Throws for a begin in the future, after which nothing can have failed. The service's clock may be ahead of ours. */
async function requirePast({ client, clock }: RepairDeps, options: RepairOptions): Promise<void> {
  const { endpointId, since, signal } = options;
  if (since <= clock.now()) return;
  const sinceText = new Date(since).toISOString();
  const { items } = await client.webhooks.deliveries(endpointId, { since: sinceText, limit: 1 }, { signal });
  if (items.length > 0) return;
  throw new PigeonholeError(
    "invalid_argument",
    `${sinceText} is in the future, so nothing has failed since. Give the begin of the outage.`,
  );
}

function toMissing({ id, type, firstFailedAt, responseCode }: LoggedLoss, reason: MissingReason): MissingEvent {
  return { id, type, firstFailedAt, responseCode, reason };
}
