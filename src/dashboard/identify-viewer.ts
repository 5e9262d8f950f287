import type { Viewer } from "../web/web-route.js";
import type { Clock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import { LATE, inTime } from "../base/wait.js";
import { type PayloadAccess, PAYLOAD_ACCESS } from "../web/api/session.js";
import type { AllowAnswer } from "./dashboard-options.js";

/**
 * `unset`: the dashboard was made without `allow`. `failed`: `allow` threw, or said what cannot be used. `late`: it
 * said nothing in time.
 */
export type Identity = { kind: "person"; person: Viewer } | { kind: "unset" | "refused" | "failed" | "late" };

/** A login that hangs must not keep requests open. */
const ALLOW_WITHIN_MS = 10 * SECOND;

const MAX_NAME_LENGTH = 200;

/** How a dashboard finds out who asks. */
export interface PersonRules {
  allow: ((request: unknown) => AllowAnswer | PromiseLike<AllowAnswer>) | undefined;
  /** For people of whom `allow` says nothing else. */
  payloads: PayloadAccess;
  /** Messages of the app's own errors may name the person who is signed in. */
  logErrorMessages: boolean;
  logger: Logger;
  clock: Clock;
}

/** Asks the app. Never rejects: who cannot be identified is not let in. */
export async function identifyViewer(
  request: unknown,
  { allow, payloads, logErrorMessages, logger, clock }: PersonRules,
): Promise<Identity> {
  if (allow === undefined) return { kind: "unset" };
  try {
    const answer = await inTime(
      // A throw becomes a rejection.
      (async () => allow(request))(),
      clock,
      ALLOW_WITHIN_MS,
    );
    if (answer === LATE) {
      logger.error({ afterMs: ALLOW_WITHIN_MS }, "dashboard_allow_late");
      return { kind: "late" };
    }
    if (answer === undefined || answer === null || answer === false) return { kind: "refused" };
    const { name, role, payloads: given = payloads } = answer;
    const isUsable = isName(name) && (role === "read" || role === "operate") && PAYLOAD_ACCESS.includes(given);
    if (isUsable) return { kind: "person", person: { name, role, payloads: given } };
    logger.error({ needs: ALLOW_RULE }, "dashboard_allow_answer_unusable");
  } catch (error) {
    logger.error(errorFields(error, logErrorMessages), "dashboard_allow_failed");
  }
  return { kind: "failed" };
}

const ALLOW_RULE = `allow must return { role: "read" | "operate", name, payloads? } with a name of 1 to ${MAX_NAME_LENGTH} characters, none of them half, or nothing.`;

/** Half a character cannot be sent in a header. */
function isName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= MAX_NAME_LENGTH && !/\p{Surrogate}/u.test(name);
}
