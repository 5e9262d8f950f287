import { type ErrorCode, isPigeonholeError } from "#pigeonhole/base/error.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { NewEvent, PruneLimits } from "#pigeonhole/store/store.js";
import type { Lease, Settlement } from "#pigeonhole/store/work.js";
import { expect } from "vitest";

export const context = { logger: silentLogger };

/** A time to begin with; all others are given relative to it. */
export const T = 1_760_000_000_000;
export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

/** Limits of a round long after {@link T} that lets nothing go; tests move one of them. */
export const NOTHING_TO_PRUNE: PruneLimits = {
  now: T + 100 * DAY,
  idsBefore: 0,
  bodiesBefore: 0,
  sentBefore: 0,
  batch: 100,
};

export function newEvent(id: string, change: Partial<NewEvent> = {}): NewEvent {
  return {
    id,
    type: "email.received",
    receivedAt: T,
    signedAt: T - 1_000,
    test: false,
    body: Buffer.from(`{"id":"${id}"}`),
    work: [{ handler: "h" }],
    ...change,
  };
}

/** Settlements of each kind. */
export const settlements = {
  done: (lease: Lease) => ({ ...bare(lease), at: T + 5, dropSteps: false, to: "done" }) as const,
  pending: (lease: Lease, dueAt = T + 50) =>
    ({ ...bare(lease), at: T + 5, dropSteps: false, to: "pending", dueAt, error: "it failed" }) as const,
  dead: (lease: Lease) =>
    ({ ...bare(lease), at: T + 5, dropSteps: false, to: "dead", reason: "do_not_retry", error: "it failed" }) as const,
  parked: (lease: Lease) =>
    ({
      ...bare(lease),
      at: T + 5,
      dropSteps: false,
      to: "parked",
      reason: "mismatch",
      error: "no such field",
    }) as const,
} satisfies Record<Settlement["to"], (lease: Lease) => Settlement>;

/** A span as the store keeps it, with its vendor's part. */
export const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 vendor=1";

export const TARGETS = ["done", "pending", "dead", "parked"] as const;

export const bare = ({ seq, handler, token }: Lease): Lease => ({ seq, handler, token });

/** The lease, which has to be there. */
export const expectLease = (lease: Lease | undefined): Lease => lease ?? expect.unreachable();

export async function expectCode(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(promise).rejects.toSatisfy((error: unknown) => isPigeonholeError(error, code));
}
