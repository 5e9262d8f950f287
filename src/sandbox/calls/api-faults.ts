import { PigeonholeError } from "../../base/error.js";
import { checkWholeNumber } from "../../base/option-check.js";
import type { Random } from "../../base/random.js";
import { listOperations } from "../../contract/contract.js";
import { matchesPattern } from "../../protocol/event-pattern.js";
import { checkRetryAfter, checkRule, checkText } from "../faults/check-rule.js";
import { FaultRules } from "../faults/fault-rules.js";

/** The fault of one call. */
export type InjectedFault =
  /** An error answer. With `executed` the call still takes effect, as when the service fails after its commit. */
  | {
      kind: "error";
      /** 400 to 599. */
      status: number;
      /** @default `injected_<status>`, or `event_rate_limited` for a 429 */
      code?: string | undefined;
      /** The header Retry-After as sent: seconds, or an HTTP date. */
      retryAfter?: string | undefined;
      /** True: the call takes effect all the same. @default false */
      executed?: boolean | undefined;
    }
  /** No answer: the connection breaks, after the call took effect (`executed: true`) or before it could (`false`). */
  | { kind: "no_answer"; executed: boolean }
  /**
   * The call takes effect at once and is answered `delayMs` milliseconds later, by the clock that the receiver uses.
   */
  | { kind: "delay"; delayMs: number };

/** Called once for each call of a known operation with a valid key, or of one that needs none. */
export interface ApiFaults {
  /** `call`: such as `contactEvents.send`. */
  next(call: string): InjectedFault | undefined;
}

/** A fault of the API: what happens, to which calls, and how often. */
export interface ApiFaultRule {
  /** What happens to the call. */
  fault: InjectedFault;
  /** Name of a call (`contactEvents.send`), of a resource (`contactEvents.*`), or `*`. @default "*" */
  calls?: string | undefined;
  /** How likely the fault is for a call that matches, 0 to 1; the seed decides. @default 1 */
  probability?: number | undefined;
  /** How often the fault happens before the rule ends. @default no limit */
  times?: number | undefined;
}

/** Rules in order. The first that matches decides about a call. */
export class ApiFaultList extends FaultRules<ApiFaultRule> implements ApiFaults {
  readonly #random: Random;

  /** `random` decides if a probability is given. */
  constructor({ random }: { random: Random }) {
    super(checkApiRule);
    this.#random = random;
  }

  /** The fault of a call, such as `contactEvents.send`. */
  next(call: string): InjectedFault | undefined {
    return this.take(({ calls = "*" }) => matchesPattern(calls, call), this.#random);
  }
}

const FAULT_FIELDS: Readonly<Record<InjectedFault["kind"], readonly string[]>> = {
  error: ["status", "code", "retryAfter", "executed"],
  no_answer: ["executed"],
  delay: ["delayMs"],
};

/** Throws `invalid_argument` or `invalid_option` for an invalid rule. */
export function checkApiRule(rule: ApiFaultRule): void {
  checkRule(rule, { fields: ["calls"], faults: FAULT_FIELDS });
  const { fault, calls = "*" } = rule;
  checkText("calls", calls);
  if (!listOperations().some(({ resource, name }) => matchesPattern(calls, `${resource}.${name}`))) {
    throw new PigeonholeError("invalid_argument", `calls must name an operation or a resource, got ${calls}.`);
  }
  checkFault(fault);
}

function checkFault(fault: InjectedFault): void {
  switch (fault.kind) {
    case "error":
      checkWholeNumber("fault.status", fault.status, { min: 400, max: 599 });
      checkText("fault.code", fault.code);
      checkRetryAfter(fault.retryAfter);
      checkExecuted(fault.executed ?? false);
      return;
    case "no_answer":
      checkExecuted(fault.executed);
      return;
    case "delay":
      checkWholeNumber("fault.delayMs", fault.delayMs, { min: 0 });
      return;
  }
}

function checkExecuted(executed: boolean): void {
  if (typeof executed === "boolean") return;
  throw new PigeonholeError("invalid_argument", "fault.executed must be true or false.");
}
