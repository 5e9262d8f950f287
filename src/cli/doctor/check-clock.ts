import { SECOND } from "../../base/duration.js";
import { headerListReader } from "../../capture/model/judge-signature.js";
import { sendRequest } from "../../capture/send/send-request.js";
import { LIMITS } from "../../protocol/limits.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";
import { age } from "../frame/format.js";

/** Beyond this, the difference of the clocks nearly uses up the time window of a signature. */
const WARN_SECONDS = 60;

const FIX =
  "Set the clock by the network (NTP), as with sudo timedatectl set-ntp true. A container takes its host's clock, so set it there.";

const { fail, pass, skip, warn } = checksNamed("clock");

/** Compares this machine's clock with the `Date` header of an answer. `url` undefined: no server is known. */
export async function checkClock(url: URL | undefined, signal: AbortSignal): Promise<CheckResult> {
  if (url === undefined) {
    return skip("Not compared: set PIGEONHOLE_BASE_URL to the address of the API, whose answers carry its time.");
  }
  const before = Date.now();
  const request = { url: url.href, method: "GET", headers: [], body: Buffer.alloc(0), timeoutMs: 4 * SECOND };
  const answer = await sendRequest({ ...request, allowRemote: true, signal });
  const { host } = url;
  if (answer.status === null) {
    const why =
      answer.failure === "refused" ? `Nothing listens at ${host}.` : (answer.error ?? `${host} gave no answer.`);
    return warn(`Not compared: ${why}`, "Check PIGEONHOLE_BASE_URL and the network.");
  }
  const header = headerListReader(answer.headers);
  const date = Date.parse(header("date") ?? "");
  // The time of a cached answer is that at which it was stored.
  if (!Number.isFinite(date) || Number(header("age") ?? 0) > 0) {
    return skip(`Not compared: the answer of ${host} has no Date header, or a cache gave it.`);
  }
  // The header has whole seconds, and was written between the request and the answer.
  const seconds = Math.round((date + SECOND / 2 - (before + answer.ms / 2)) / SECOND);
  const size = Math.abs(seconds);
  const { toleranceSeconds } = LIMITS;
  const text = `This machine's clock is ${age(size * SECOND)} ${seconds > 0 ? "behind" : "ahead of"} that of ${host}.`;
  if (size > toleranceSeconds) return fail(`${text} A receiver here accepts no delivery.`, FIX);
  if (size <= WARN_SECONDS) return pass(`${text} That is near enough.`);
  return warn(`${text} Deliveries are still accepted, with ${toleranceSeconds - size} s to spare.`, FIX);
}
