import type { Answer, Outcome } from "../protocol/outcome.js";
import type { HeaderReader, RawRequest } from "../protocol/raw-request.js";
import type { Clock } from "../base/clock.js";
import type { BodyBudget } from "./body-budget.js";

/** What a mount needs of the receiver: two questions, one answer. A mount only moves bytes. */
export interface Intake {
  /** Limit of a body in bytes. */
  readonly maxBodyBytes: number;
  /** Shared by all deliveries, so that many large bodies at once are answered 503 and do not use up the memory. */
  readonly bodies: BodyBudget;
  /** Longest time in milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number;
  readonly clock: Clock;
  /** Looks at the headers alone; an outcome here is answered without reading the body. */
  refuseEarly(header: HeaderReader): Outcome | undefined;
  /** Verifies and stores; resolves after the commit. Never rejects. */
  receive(request: RawRequest): Promise<Outcome>;
  /** Counts the outcome and turns it into the answer. Called once per request. */
  conclude(outcome: Outcome, header: HeaderReader): Answer;
  /** Hears of an error that should not have been possible; the delivery is answered `internal_error`. */
  reportFault(error: unknown): void;
}
