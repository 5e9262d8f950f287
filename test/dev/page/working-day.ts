import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { captureRequest } from "#pigeonhole/capture/model/capture-request.js";
import type { SignatureVariant } from "#pigeonhole/dev/api/page-api.js";
import { signVariant } from "#pigeonhole/dev/api/sign-variant.js";
import { EVENT_TYPES } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";
import { makeAttempt } from "../../support/captures.js";
import { SECRET } from "./workbench.js";

const PEOPLE = ["ada", "grace", "edsger", "barbara", "alan", "frances", "donald"];

const SUBJECTS = [
  "Where is my order?",
  "Invoice 2041",
  "Re: Meeting on Thursday",
  "Your order #1042 is on its way",
  "Welcome aboard",
];

const VARIANTS: Record<number, SignatureVariant> = { 5: "stale", 12: "wrong-secret", 17: "missing" };

function pick<Value>(list: readonly Value[], n: number): Value {
  return list[n % list.length] as Value;
}

/** Captures as of a working day: most are fine, some are not. */
export function makeWorkingDay(count = 120): Capture[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, n) => {
    const receivedAt = now - n * 23_000;
    const variant = VARIANTS[n % 19] ?? "valid";
    const data = { subject: pick(SUBJECTS, n), recipient: `${pick(PEOPLE, n)}@customer.example.com` };
    const event = sampleEvent(pick(EVENT_TYPES, n * 5), data);
    const { headers, body } = signVariant({
      body: Buffer.from(JSON.stringify(event)),
      secret: SECRET,
      variant,
      nowMs: receivedAt - 1000,
    });
    const capture = captureRequest({
      request: { method: "POST", path: "/webhooks", headers, body },
      receivedAt,
      source: pick(["live", "live", "sandbox", "live", "trigger"] as const, n),
      secrets: [{ ref: "env:WEBHOOK_SECRET", value: SECRET }],
    });
    const status =
      variant === "valid" ? pick([200, 200, 200, 200, 200, 200, 200, 500], n + 1) : variant === "missing" ? 401 : 503;
    return {
      ...capture,
      pinned: n === 8,
      attempts: [makeAttempt({ at: capture.receivedAt, status, ms: 3 + ((n * 7) % 19) })],
    };
  });
}
