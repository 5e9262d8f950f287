import { isRetryableStatus } from "pigeonhole/protocol";
import { expect, test } from "vitest";
import { isRetryableAnswer } from "#pigeonhole/base/http.js";
import { ApiError } from "#pigeonhole/client/errors.js";
import { retryWait } from "#pigeonhole/client/retry.js";
import { judgeFailure } from "#pigeonhole/outbox/send-verdict.js";

const STATUSES = Array.from({ length: 900 }, (_, index) => index + 100);
const RETRYABLE = [408, 425, 429, ...STATUSES.filter((status) => status >= 500 && status <= 599)];
const AFTER_MS = 7;

const errorWith = (status: number) =>
  new ApiError({ call: "contactEvents.send", status, code: "x", message: "m", retryAfterMs: AFTER_MS } as never);

test.each<[string, (status: number) => boolean, also?: number[]]>([
  ["the rule", isRetryableAnswer],
  ["the service after a delivery", isRetryableStatus],
  [
    "the client after a call",
    (status) => {
      const retry = { error: errorWith(status), retries: 0, maxRetries: 1, isRepeatable: true, random: () => 0.5 };
      return retryWait(retry) !== undefined;
    },
  ],
  [
    "the outbox after a call",
    (status) => {
      const send = { kind: "single", attempt: 1, events: [] } as never;
      const verdict = judgeFailure(errorWith(status), send, 0);
      return verdict.kind === "retry" && verdict.afterMs === AFTER_MS;
    },
    // The documents name none for these calls.
    [409],
  ],
])(
  "%s: an answer of 408, 425, 429 or 500 to 599 is worth another try, and no other answer is",
  (_, isRetried, also = []) => {
    expect(STATUSES.filter(isRetried)).toEqual([...RETRYABLE, ...also].toSorted((one, other) => one - other));
  },
);
