import { z } from "zod";
import type { Random } from "../../base/random.js";
import { listOperations } from "../../contract/contract.js";
import { wholeNumberOf } from "../../contract/shapes.js";
import { matchesPattern } from "../../protocol/event-pattern.js";
import { FaultRules, commonRule, retryAfter } from "../faults/fault-rules.js";

const fault = z.discriminatedUnion(
  "kind",
  [
    /** An error answer. With `executed` the call still takes effect, as when the service fails after its commit. */
    z.strictObject({
      kind: z.literal("error"),
      /** 400 to 599. */
      status: wholeNumberOf(400, 599),
      /** @default `injected_<status>`, or `event_rate_limited` for a 429 */
      code: z.string().optional(),
      /** The header Retry-After as sent: seconds, or an HTTP date. */
      retryAfter,
      /** True: the call takes effect all the same. @default false */
      executed: z.boolean().optional(),
    }),
    /** No answer: the connection breaks, after the call took effect (`executed: true`) or before it could (`false`). */
    z.strictObject({ kind: z.literal("no_answer"), executed: z.boolean() }),
    /** The call takes effect at once and is answered `delayMs` milliseconds later, by the receiver's clock. */
    z.strictObject({ kind: z.literal("delay"), delayMs: wholeNumberOf(0, Number.MAX_SAFE_INTEGER) }),
  ],
  { error: "Must be error, no_answer or delay." },
);

/** The schema of {@link ApiFaultRule}. */
export const apiFaultRule = z.strictObject({
  /** What happens to the call. */
  fault,
  /** Name of a call (`contactEvents.send`), of a resource (`contactEvents.*`), or `*`. @default "*" */
  calls: z.string().refine(isCalls, { error: "Must name an operation or a resource." }).optional(),
  ...commonRule,
});

/** The fault of one call. */
export type InjectedFault = z.input<typeof fault>;

/** A fault of the API: what happens, to which calls, and how often. */
export type ApiFaultRule = z.input<typeof apiFaultRule>;

/** Rules in order. The first that matches decides about a call. */
export class ApiFaultList extends FaultRules<ApiFaultRule> {
  readonly #random: Random;

  /** `random` decides if a probability is given. */
  constructor({ random }: { random: Random }) {
    super(apiFaultRule);
    this.#random = random;
  }

  /** The fault of a call, such as `contactEvents.send`: of a known operation, and with a valid key if it needs one. */
  next(call: string): InjectedFault | undefined {
    return this.take(({ calls = "*" }) => matchesPattern(calls, call), this.#random);
  }
}

function isCalls(pattern: string): boolean {
  return listOperations().some(({ resource, name }) => matchesPattern(pattern, `${resource}.${name}`));
}
