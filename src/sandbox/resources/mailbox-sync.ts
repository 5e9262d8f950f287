import { invalidParameter } from "../endpoints/check-endpoint.js";
import { MINUTE, SECOND } from "../../base/duration.js";

/** How a sync ends: the provider accepts the password, refuses it, or does not answer. */
export type SyncOutcome = "accepted" | "refused" | "no_answer";

/** The part of a connected mailbox that its syncs change. See docs/service.md#connected-mailboxes. */
export interface SyncState {
  readonly status: "active" | "paused" | "needs-sign-in" | "failing";
  readonly pauseReason: "by-person" | "sign-in" | "unreachable" | null;
  readonly lastError: string | null;
  readonly lastSyncedMs: number | null;
  /** When the next sync is due. */
  readonly nextSyncMs: number;
  /** Failed syncs in a row. */
  readonly failures: number;
  /** Until then mail comes in. */
  readonly busyUntilMs: number;
}

const BUSY_WAIT_MS = 30 * SECOND;
const QUIET_WAIT_MS = 5 * MINUTE;
/** "Less often" is not documented. */
const FAILING_WAIT_MS = 15 * MINUTE;
/** A mailbox is quiet when no mail has come for this long. */
const BUSY_MS = 5 * MINUTE;
const MAX_FAILURES = 5;
/** How long a sync takes that a caller asks for. */
const SYNC_MS = SECOND;

/** A mailbox that was just connected, or whose sync resumes: active, and synced within a minute. */
export function startSync(nowMs: number): SyncState {
  return {
    status: "active",
    pauseReason: null,
    lastError: null,
    lastSyncedMs: null,
    nextSyncMs: nowMs + BUSY_WAIT_MS,
    failures: 0,
    busyUntilMs: nowMs + BUSY_MS,
  };
}

/** The state after every sync that was due until now, while each ended in the same way. */
export function catchUp(state: SyncState, nowMs: number, outcome: SyncOutcome): SyncState {
  let caughtUp = state;
  while (isSynced(caughtUp) && caughtUp.nextSyncMs <= nowMs) {
    const { nextSyncMs } = caughtUp;
    // Where every further sync is like the last, only the last one matters.
    const wait = isSteady(caughtUp, outcome) ? waitOf(caughtUp, nextSyncMs) : Number.POSITIVE_INFINITY;
    const skipped = Math.floor((nowMs - nextSyncMs) / wait);
    caughtUp = afterSync(caughtUp, nextSyncMs + (skipped === 0 ? 0 : skipped * wait), outcome);
  }
  return caughtUp;
}

/** Mail has come for the mailbox, so it is synced more often for a while. */
export function noteMail(state: SyncState, nowMs: number): SyncState {
  return { ...state, busyUntilMs: nowMs + BUSY_MS };
}

/** A sync that a caller asks for. A mailbox that is paused or needs a sign-in is not synced. */
export function askForSync(state: SyncState, nowMs: number): SyncState {
  return isSynced(state) ? { ...state, nextSyncMs: Math.min(state.nextSyncMs, nowMs + SYNC_MS) } : state;
}

function isSynced({ status }: SyncState): boolean {
  return status === "active" || status === "failing";
}

function isSteady({ status, failures, nextSyncMs, busyUntilMs }: SyncState, outcome: SyncOutcome): boolean {
  if (outcome === "no_answer") return status === "failing";
  return outcome === "accepted" && failures === 0 && nextSyncMs >= busyUntilMs;
}

function waitOf({ status, busyUntilMs }: SyncState, atMs: number): number {
  if (status === "failing") return FAILING_WAIT_MS;
  return atMs < busyUntilMs ? BUSY_WAIT_MS : QUIET_WAIT_MS;
}

function afterSync(state: SyncState, atMs: number, outcome: SyncOutcome): SyncState {
  switch (outcome) {
    case "accepted": {
      const healthy = { ...state, status: "active", pauseReason: null, lastError: null, failures: 0 } as const;
      return { ...healthy, lastSyncedMs: atMs, nextSyncMs: atMs + waitOf(healthy, atMs) };
    }
    case "refused":
      return {
        ...state,
        status: "needs-sign-in",
        pauseReason: "sign-in",
        lastError: "The provider no longer accepts the password.",
      };
    case "no_answer": {
      const failures = Math.min(state.failures + 1, MAX_FAILURES);
      const lastError = "The provider's server does not answer.";
      const failed = { ...state, failures, lastError };
      if (failures < MAX_FAILURES) return { ...failed, nextSyncMs: atMs + waitOf(state, atMs) };
      return { ...failed, status: "failing", pauseReason: "unreachable", nextSyncMs: atMs + FAILING_WAIT_MS };
    }
  }
}

/** The paused mailbox goes on, or the other way round. Without a sign-in neither is possible. */
export function switchSync(sync: SyncState, paused: boolean | undefined, nowMs: number): SyncState {
  if (paused === undefined) return sync;
  if (sync.status === "needs-sign-in") throw invalidParameter("paused", "The mailbox needs a new password first.");
  if (paused) return { ...sync, status: "paused", pauseReason: "by-person" };
  return sync.status === "paused" ? resumed(sync, nowMs) : sync;
}

export function resumed({ lastSyncedMs }: SyncState, nowMs: number): SyncState {
  return { ...startSync(nowMs), lastSyncedMs };
}
