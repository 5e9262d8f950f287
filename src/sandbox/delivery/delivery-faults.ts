import { MINUTE } from "../../base/duration.js";
import { checkWholeNumber } from "../../base/option-check.js";
import type { Random } from "../../base/random.js";
import { checkPattern, matchesPattern } from "../../protocol/event-pattern.js";
import { checkRetryAfter, checkRule, checkText } from "../faults/check-rule.js";
import { FaultRules } from "../faults/fault-rules.js";
import { MAX_DELAY_MS } from "../clock/sandbox-time.js";

/** The fault of one attempt. */
export type DeliveryFault =
  /** Nothing is sent; the service gets no answer. */
  | { kind: "drop" }
  /** Sent `delayMs` milliseconds of the sandbox's clock later, at most a year. */
  | { kind: "delay"; delayMs: number }
  /**
   * Sent more than once at the same time, like a duplicate in the network. The answer to the first counts. The copies
   * have no row.
   */
  | {
      kind: "duplicate";
      /** Further copies. @default 1 */
      copies?: number | undefined;
    }
  /** Sent after the next attempt to the same endpoint. */
  | {
      kind: "reorder";
      /** Longest wait for another attempt, in milliseconds of the sandbox's clock. @default 60,000 */
      maxMs?: number | undefined;
    }
  /** Sent, and the receiver handles it; the service gets no answer. */
  | { kind: "lose_answer" }
  /** Not sent: a proxy in front of the receiver answers instead. */
  | {
      kind: "status";
      /** 200 to 599. */
      status: number;
      /** The header Retry-After: seconds, or an HTTP date. */
      retryAfter?: string | undefined;
    };

/** A fault of deliveries: what happens, to which attempts, and how often. */
export interface DeliveryFaultRule {
  /** What happens to the attempt. */
  fault: DeliveryFault;
  /** Only events of this type, or all of a group (`email.*`). @default "*" */
  types?: string | undefined;
  /** Only attempts to the endpoint with this id. @default every endpoint */
  endpointId?: string | undefined;
  /** Only this attempt of a delivery: 1 for the first. @default every attempt */
  attempt?: number | undefined;
  /** How likely the fault is for an attempt that matches, 0 to 1; the seed decides. @default 1 */
  probability?: number | undefined;
  /** How often the fault happens before the rule ends. @default no limit */
  times?: number | undefined;
}

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
    super(checkDeliveryRule);
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

const FAULT_FIELDS: Readonly<Record<DeliveryFault["kind"], readonly string[]>> = {
  drop: [],
  delay: ["delayMs"],
  duplicate: ["copies"],
  reorder: ["maxMs"],
  lose_answer: [],
  status: ["status", "retryAfter"],
};

/** Throws `invalid_argument` or `invalid_option` for an invalid rule. */
export function checkDeliveryRule(rule: DeliveryFaultRule): void {
  checkRule(rule, { fields: ["types", "endpointId", "attempt"], faults: FAULT_FIELDS });
  if (rule.types !== undefined) checkPattern(rule.types, "types");
  checkText("endpointId", rule.endpointId);
  if (rule.attempt !== undefined) checkWholeNumber("attempt", rule.attempt, { min: 1 });
  checkFault(rule.fault);
}

function checkFault(fault: DeliveryFault): void {
  switch (fault.kind) {
    case "drop":
    case "lose_answer":
      return;
    case "delay":
      checkWholeNumber("fault.delayMs", fault.delayMs, { min: 0, max: MAX_DELAY_MS });
      return;
    case "duplicate":
      checkWholeNumber("fault.copies", fault.copies ?? 1, { min: 1, max: 100 });
      return;
    case "reorder":
      checkWholeNumber("fault.maxMs", fault.maxMs ?? MAX_REORDER_MS, { min: 0, max: MAX_DELAY_MS });
      return;
    case "status":
      checkWholeNumber("fault.status", fault.status, { min: 200, max: 599 });
      checkRetryAfter(fault.retryAfter);
      return;
  }
}
