import { describeAnswer } from "../../capture/model/answer.js";
import { judgeShown } from "../../capture/model/answer-advice.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { SignatureVariant } from "../../dev/api/page-api.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { goTo } from "../state/address.js";
import { type SentAnswer, reportAnswers } from "../state/report-answers.js";
import { plural } from "../text/format.js";

/** Says how the app answered what was sent. Of a delivery that is signed wrongly no answer is a fault by itself. */
export function reportSent(captures: readonly CaptureSummary[], sign: SignatureVariant): void {
  const answers = captures
    .map(readAnswer)
    .map(({ words, tone }) => ({ words, tone: sign === "valid" ? tone : ("plain" as const) }));
  const open = () => goTo("deliveries", { open: captures[0]?.id ?? "" });
  reportAnswers(`Sent ${plural(captures.length, "delivery", "deliveries")}`, answers, { label: "Open", run: open });
}

function readAnswer(capture: CaptureSummary): SentAnswer {
  if (isHeld(capture)) return { words: "held for the app", tone: "warn" };
  if (capture.status === null && capture.error === null) return { words: "kept, not forwarded", tone: "good" };
  const words = capture.notReceived ? `${capture.status} with an HTML page, of no receiver` : describeAnswer(capture);
  return { words, tone: judgeShown(capture) };
}
