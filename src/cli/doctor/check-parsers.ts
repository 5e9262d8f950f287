import { headerListReader } from "../../capture/model/judge-signature.js";
import type { SendResult } from "../../capture/send/send-request.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { isRetryableStatus } from "../../protocol/retry-schedule.js";
import { makeSecret } from "../../protocol/secret.js";
import { signHere } from "../../protocol/sign-here.js";
import { type CheckResult, fail, pass } from "../frame/check-result.js";

/** Posts a body with these signature headers to the app. */
export type PostToApp = (body: string, signature: Record<string, string>) => Promise<SendResult>;

/** Above the 100 kB at which the parsers of Express refuse by default. */
const LARGE_BYTES = 150_000;

const ABOVE = "Mount receiver.middleware() above every body parser, or limit the parsers to other paths.";

/** What is posted, and how the result describes it. */
const PROBES: readonly { name: string; what: string; body: string }[] = [
  {
    name: "large body",
    what: "a delivery of 150 kB",
    body: JSON.stringify({ probe: "pigeonhole doctor", filler: "x".repeat(LARGE_BYTES) }),
  },
  { name: "not JSON", what: "a delivery that is not JSON", body: "pigeonhole doctor" },
];

/** Outcomes after the body was read: the receiver got the bytes and did not know the secret. */
const READ: ReadonlySet<string | undefined> = new Set(["unverified", "secrets_unavailable"]);

/**
 * Posts bodies that body parsers refuse, and reports whether the receiver gets them. Signed with an unknown random
 * secret: the receiver reads, refuses and does not store them, so that the check leaves nothing in the inbox.
 */
export async function checkParsers(post: PostToApp): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, what, body } of PROBES) {
    const secret = makeSecret();
    results.push(judge(name, what, await post(body, signHere({ body, secret }))));
  }
  return results;
}

function judge(name: string, what: string, { status, headers, error }: SendResult): CheckResult {
  const outcome = headerListReader(headers)(OUTCOME_HEADER);
  if (READ.has(outcome)) return pass(name, `The bytes of ${what} reach the receiver.`);
  if (status === null)
    return fail(name, `The app gave no answer to ${what}: ${error ?? "it ended the connection"}.`, ABOVE);
  if (outcome === "too_large") {
    return fail(
      name,
      `The receiver refuses ${what} (${status}), which is final.`,
      "Raise maxBodyBytes of createReceiver.",
    );
  }
  if (outcome !== undefined) {
    return fail(name, `The receiver answered ${status} ${outcome} to ${what}.`, ABOVE);
  }
  const loss = isRetryableStatus(status) ? "" : ", which is final: the event would be lost";
  return fail(
    name,
    `Something in front of the receiver answered ${status} to ${what}${loss}.`,
    `${ABOVE} express.json() refuses above 100 kB and anything that is not JSON, express.raw() above 100 kB: even with a verify hook.`,
  );
}
