import type { SendFailure } from "../send/send-request.js";
import type { InspectedHandler } from "./check-work.js";
import type { InspectedContactEvent } from "./recorded-contact-events.js";

/** One capture, replayed and compared with its expectation. */
export interface CaptureTestCase {
  /** Path of the capture's file. */
  file: string;
  /** Id of the capture, `cap_…`. */
  captureId: string;
  /** Such as `email.received cap_…`. */
  name: string;
  /** True when the answer and the work of the handlers were as expected. */
  passed: boolean;
  /** One sentence each; empty if it passed. */
  failures: string[];
  /** What to change, if the answer of a case that failed shows it; null otherwise. */
  advice: string | null;
  /** Event id that was sent; null when the body has none. */
  eventId: string | null;
  /** HTTP status of the answer; null when none came. */
  status: number | null;
  /** The receiver's outcome, such as `accepted`; null when the answer does not say. */
  outcome: string | null;
  /** The work of each handler on the event; null if no inbox was read, or it does not have the event. */
  handlers: InspectedHandler[] | null;
  /** The contact events that the handlers recorded; null if they were not read. */
  contactEvents: InspectedContactEvent[] | null;
  /** Time until the answer, in milliseconds. */
  ms: number;
  /** Why there was no complete answer; null when there was one. */
  failure: SendFailure | null;
  /** Whether the answer was written to the file as its expectation. */
  updated: boolean;
}

/** What became of each capture that was replayed as a test. */
export interface CaptureTestReport {
  /** In the order of arrival of the captures. */
  cases: CaptureTestCase[];
  /** Cases that passed. */
  passed: number;
  /** Cases that failed, those without an answer included. */
  failed: number;
  /** Failed cases without any answer. */
  unanswered: number;
  /** Time of the whole run, in milliseconds. */
  ms: number;
}

/** The failures as text, one case after the other; empty if all passed. */
export function describeFailures({ cases }: CaptureTestReport): string {
  const failed = cases.filter(({ passed }) => !passed);
  return failed.map((one) => [`${one.name} (${one.file})`, ...describeFailure(one)].join("\n    ")).join("\n");
}

/** What is not as expected, and what to change if that is known: one sentence each. */
export function describeFailure({ failures, advice }: Pick<CaptureTestCase, "failures" | "advice">): string[] {
  return advice === null ? failures : [...failures, `! ${advice}`];
}
