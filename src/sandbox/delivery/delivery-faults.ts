import { z } from "zod";
import { MINUTE } from "../../base/duration.js";
import type { Random } from "../../base/random.js";
import { wholeNumberOf } from "../../contract/shapes.js";
import { isPattern, matchesPattern } from "../../protocol/event-pattern.js";
import { MAX_DELAY_MS } from "../clock/sandbox-time.js";
import { FaultRules, commonRule, retryAfter } from "../faults/fault-rules.js";

const fault = z.discriminatedUnion(
  "kind",
  [
    /** Nothing is sent; the service gets no answer. */
    z.strictObject({ kind: z.literal("drop") }),
    /** Sent `delayMs` milliseconds of the sandbox's clock later, at most a year. */
    z.strictObject({ kind: z.literal("delay"), delayMs: wholeNumberOf(0, MAX_DELAY_MS) }),
    /**
     * Sent more than once at the same time, like a duplicate in the network. The answer to the first counts. The copies
     * have no row.
     */
    z.strictObject({
      kind: z.literal("duplicate"),
      /** Further copies. @default 1 */
      copies: wholeNumberOf(1, 100).optional(),
    }),
    /** Sent after the next attempt to the same endpoint. */
    z.strictObject({
      kind: z.literal("reorder"),
      /** Longest wait for another attempt, in milliseconds of the sandbox's clock. @default 60,000 */
      maxMs: wholeNumberOf(0, MAX_DELAY_MS).optional(),
    }),
    /** Sent, and the receiver handles it; the service gets no answer. */
    z.strictObject({ kind: z.literal("lose_answer") }),
    /** Not sent: a proxy in front of the receiver answers instead. */
    z.strictObject({
      kind: z.literal("status"),
      /** 200 to 599. */
      status: wholeNumberOf(200, 599),
      /** The header Retry-After: seconds, or an HTTP date. */
      retryAfter,
    }),
  ],
  { error: "Must be drop, delay, duplicate, reorder, lose_answer or status." },
);

/** The schema of {@link DeliveryFaultRule}. */
export const deliveryFaultRule = z.strictObject({
  /** What happens to the attempt. */
  fault,
  /** Only events of this type, or all of a group (`email.*`). @default "*" */
  types: z.string().refine(isPattern, { error: "Must be an event type, a group such as email.*, or *." }).optional(),
  /** Only attempts to the endpoint with this id. @default every endpoint */
  endpointId: z.string().optional(),
  /** Only this attempt of a delivery: 1 for the first. @default every attempt */
  attempt: wholeNumberOf(1, Number.MAX_SAFE_INTEGER).optional(),
  ...commonRule,
});

/** The fault of one attempt. */
export type DeliveryFault = z.input<typeof fault>;

/** A fault of deliveries: what happens, to which attempts, and how often. */
export type DeliveryFaultRule = z.input<typeof deliveryFaultRule>;

/** The fields of an attempt that rules compare. */
export interface FaultSubject {
  /** Type of the event. */
  type: string;
  /** Id of the endpoint. */
  endpointId: string;
  /** 1 for the first attempt of the delivery. */
  attempt: number;
}

/** Longest wait of a reordered attempt for another one, unless the rule says otherwise. */
export const MAX_REORDER_MS = MINUTE;

/** Rules in order. The first that matches decides about an attempt. */
export class DeliveryFaultList extends FaultRules<DeliveryFaultRule> {
  constructor() {
    super(deliveryFaultRule);
  }

  /** The fault of an attempt. Each attempt has its own `random`, so that the order of other answers has no effect. */
  next(subject: FaultSubject, random: Random): DeliveryFault | undefined {
    return this.take((rule) => fits(rule, subject), random);
  }
}

function fits({ types = "*", endpointId, attempt }: DeliveryFaultRule, subject: FaultSubject): boolean {
  return (
    matchesPattern(types, subject.type) &&
    (endpointId === undefined || endpointId === subject.endpointId) &&
    (attempt === undefined || attempt === subject.attempt)
  );
}
