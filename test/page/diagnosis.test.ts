import { expect, test } from "vitest";
import { eventDetail, handlerView } from "../support/event-detail.js";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import type { CaptureSummary } from "#pigeonhole/capture/model/capture.js";
import type { CaptureDetail } from "#pigeonhole/dev/api/page-api.js";
import type { EventView } from "#pigeonhole/store/inbox-view.js";
import { diagnose } from "../../src/page/state/diagnosis.js";
import { makeCapture } from "../support/captures.js";

const capture = makeCapture();
const signature = { summary: "", checks: [], findings: [], toleranceSeconds: 300, timestamp: null };

function diagnoseAs(
  summary: Partial<CaptureSummary>,
  code: CaptureDetail["summary"]["verdict"] = "ok",
  event?: EventView,
) {
  const detail = {
    capture: { ...capture, verify: { ...capture.verify, code } },
    summary: { ...summarizeCapture(capture), status: 200, outcome: "accepted", ms: 3, ...summary },
    signature,
    retryLine: { past: [], coming: [], notComing: 0 },
  };
  return diagnose(detail, event);
}

test.each([
  ["nothing", {}, "ok", undefined],
  ["a signature", { status: 401, outcome: "unverified" }, "mismatch", { tab: "signature", remedy: "secret" }],
  ["an age", {}, "stale", { tab: "signature", tone: "warn", remedy: "replay" }],
  ["a replay that was signed again", { resigned: true }, "mismatch", { tab: "attempts", tone: "good" }],
  ["a replay whose event is parked", { resigned: true, outcome: "parked" }, "mismatch", { tab: "answer" }],
  ["a refusal", { status: 500, outcome: null }, "ok", { tab: "answer", text: "The app answered 500." }],
  ["no answer", { status: null, outcome: null, error: "refused" }, "ok", { tab: "answer", tone: "bad" }],
  ["a page", { outcome: null, notReceived: true }, "ok", { tab: "answer", remedy: "replay" }],
  ["a late answer", { ms: 6_050 }, "ok", { tone: "warn", text: expect.stringContaining("The service waits 5") }],
] as const)("of a delivery, %s is diagnosed", (_, summary, code, expected) => {
  if (expected === undefined) expect(diagnoseAs(summary, code)).toBeUndefined();
  else expect(diagnoseAs(summary, code)).toMatchObject(expected);
});

test("a handler that has given up is diagnosed before one that is retried", () => {
  const ledger = { ...handlerView("ledger"), state: "pending", error: "no line", attempts: 1 } as const;
  const crm = { ...handlerView("crm"), state: "dead", error: "no customer\n  at", attempts: 1 } as const;
  const id = capture.event.id ?? "";
  const event = { ...eventDetail(0, { state: "dead", handlers: [ledger, crm] }), id };
  expect(diagnoseAs({}, "ok", event)).toMatchObject({
    tab: "handlers",
    tone: "bad",
    text: "Handler crm is dead: no customer",
    remedy: { id },
  });
  const waiting = { ...event, handlers: [ledger] };
  expect(diagnoseAs({}, "ok", waiting)).toMatchObject({ tone: "warn", text: "Handler ledger is pending: no line" });
});
