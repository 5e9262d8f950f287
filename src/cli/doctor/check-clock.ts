import { headerListReader } from "../../capture/model/judge-signature.js";
import { isLocalAddress } from "../../capture/send/local-address.js";
import { sendRequest } from "../../capture/send/send-request.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../base/duration.js";
import { LIMITS } from "../../protocol/limits.js";
import { type CheckResult, fail, pass, skip, warn } from "../frame/check-result.js";

/** Beyond this, the difference of the clocks nearly uses up the time window of a signature. */
const WARN_SECONDS = 60;

/** Below this the difference is not shown. */
const EQUAL_SECONDS = 2;

/** Compares this machine's clock with the `Date` header of an answer. `url` undefined: no server is known. */
export async function checkClock(url: URL | undefined, signal: AbortSignal): Promise<CheckResult> {
  if (url === undefined) {
    return skip(
      "clock",
      "Not compared: set PIGEONHOLE_BASE_URL to the address of the API, whose answers carry its time.",
    );
  }
  const before = Date.now();
  const answer = await sendRequest({
    url: url.href,
    method: "GET",
    headers: [],
    body: Buffer.alloc(0),
    timeoutMs: 4 * SECOND,
    allowRemote: true,
    signal,
  });
  const { host } = url;
  if (answer.status === null) {
    const why =
      answer.failure === "refused" ? `Nothing listens at ${host}.` : (answer.error ?? `${host} gave no answer.`);
    return warn("clock", `Not compared: ${why}`, "Check PIGEONHOLE_BASE_URL and the network.");
  }
  const header = headerListReader(answer.headers);
  const date = Date.parse(header("date") ?? "");
  if (!Number.isFinite(date)) return skip("clock", `Not compared: the answer of ${host} has no Date header.`);
  if (Number(header("age") ?? 0) > 0) {
    return skip("clock", `Not compared: a cache answered for ${host}, with the time at which it stored the answer.`);
  }
  // The header has whole seconds, and was written between the request and the answer.
  const seconds = Math.round((date + SECOND / 2 - (before + answer.ms / 2)) / SECOND);
  return judgeSkew(seconds, { host, isHere: isLocalAddress(url.hostname) || url.hostname === "localhost" });
}

function judgeSkew(seconds: number, { host, isHere }: { host: string; isHere: boolean }): CheckResult {
  const size = Math.abs(seconds);
  if (size <= EQUAL_SECONDS) {
    const near = isHere ? " That host is nearby, so this says little about the service's own clock." : "";
    return pass("clock", `This machine's clock and that of ${host} agree.${near}`);
  }
  const text = `This machine's clock is ${formatSeconds(size)} ${seconds > 0 ? "behind" : "ahead of"} that of ${host}.`;
  if (size > LIMITS.toleranceSeconds) {
    const effect = `A signature is valid for ${formatSeconds(LIMITS.toleranceSeconds)}, so a receiver here accepts no delivery.`;
    return fail("clock", `${text} ${effect}`, fixFor());
  }
  if (size > WARN_SECONDS) {
    const left = formatSeconds(LIMITS.toleranceSeconds - size);
    return warn("clock", `${text} Deliveries are still accepted, with ${left} to spare.`, fixFor());
  }
  return pass("clock", `${text} That is near enough.`);
}

/** `45 s`, `2 min`, `1 h 5 min`, `3 d`: two units at most. */
function formatSeconds(seconds: number): string {
  const units = [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "min"],
    [SECOND, "s"],
  ] as const;
  let left = seconds * SECOND;
  const parts = units.flatMap(([size, name]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count} ${name}`];
  });
  return parts.slice(0, 2).join(" ");
}

function fixFor(platform: NodeJS.Platform = process.platform): string {
  const command: Partial<Record<NodeJS.Platform, string>> = {
    linux: "sudo timedatectl set-ntp true",
    darwin: "sudo sntp -sS time.apple.com",
    win32: "w32tm /resync, as administrator",
  };
  const how = command[platform];
  return `Set the clock by the network (NTP)${how === undefined ? "" : `: ${how}`}. A container takes its host's clock, so set it there.`;
}
