import type { Intake } from "#pigeonhole/http/intake.js";
import { BodyBudget } from "#pigeonhole/http/body-budget.js";
import { answerFor, type Outcome } from "#pigeonhole/protocol/outcome.js";
import { systemClock } from "#pigeonhole/base/clock.js";

/** A small intake that takes every body and remembers what came through the mount. */
export interface ProbeIntake extends Intake {
  readonly received: { body: Buffer; signature: string | undefined }[];
  readonly outcomes: Outcome[];
  readonly faults: unknown[];
}

/** Rules of the probe that a test sets its own way. */
export type ProbeRules = Partial<Intake>;

export const LIMIT = 10_000;

export function createProbeIntake(rules: ProbeRules = {}): ProbeIntake {
  const received: ProbeIntake["received"] = [];
  const outcomes: Outcome[] = [];
  const faults: unknown[] = [];
  return {
    received,
    outcomes,
    faults,
    maxBodyBytes: LIMIT,
    bodies: new BodyBudget(LIMIT * 10),
    bodyTimeoutMs: 5_000,
    clock: systemClock,
    refuseEarly: () => undefined,
    async receive({ body, header }) {
      received.push({ body: Buffer.from(body), signature: header("x-svc-signature") });
      return { kind: "accepted", eventId: `evt_${received.length}`, eventType: "email.sent" };
    },
    conclude(outcome) {
      outcomes.push(outcome);
      return answerFor(outcome, "retry");
    },
    reportFault: (error) => faults.push(error),
    ...rules,
  };
}
