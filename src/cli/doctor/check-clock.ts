import { headerListReader } from "../../capture/judge-signature.js";
import { sendRequest } from "../../capture/send-request.js";
import { SECOND } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { type CheckResult, fail, pass, skip, warn } from "./check.js";

/** Beyond this the window of a signature is nearly used up by the clocks alone. */
const WARN_SECONDS = 60;

/** Compares this machine's clock with the `Date` header of an answer. `url` undefined: there is nobody to ask. */
export async function checkClock(url: string | undefined, signal: AbortSignal): Promise<CheckResult> {
  if (url === undefined) return skip("clock", "Not compared: give --base-url to compare it with the service's.");
  const before = Date.now();
  const answer = await sendRequest({
    url,
    method: "GET",
    headers: [],
    body: Buffer.alloc(0),
    timeoutMs: 10 * SECOND,
    allowRemote: true,
    signal,
  });
  if (answer.status === null) return warn("clock", answer.error ?? "No answer.", "Look at --base-url and the network.");
  const date = Date.parse(headerListReader(answer.headers)("date") ?? "");
  if (!Number.isFinite(date)) return skip("clock", "The service's answer has no Date header to compare with.");
  // The header is cut to seconds, and was written while the answer was on its way.
  const seconds = Math.round((date + SECOND / 2 - (before + answer.ms / 2)) / SECOND);
  return judgeSkew(seconds);
}

function judgeSkew(seconds: number): CheckResult {
  const size = Math.abs(seconds);
  const text = `This machine's clock is ${size} s ${seconds > 0 ? "behind" : "ahead of"} the service's.`;
  const fix = "Switch on time synchronisation (NTP) on this machine.";
  if (size > LIMITS.toleranceSeconds) return fail("clock", `${text} No signature can be in time.`, fix);
  if (size > WARN_SECONDS) return warn("clock", text, fix);
  return pass("clock", size <= 1 ? "The clock agrees with the service's." : text);
}
