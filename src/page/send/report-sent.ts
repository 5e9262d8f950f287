import { describeAnswer } from "../../capture/model/answer.js";
import { judgeShown } from "../../capture/model/answer-advice.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import type { SignatureVariant } from "../../dev/api/page-api.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { goTo } from "../state/address.js";
import { plural } from "../text/format.js";
import { showNotice, type Notice } from "../state/notice.js";

/** Says how the app answered what was sent, and not only that it was sent. */
export function reportSent(captures: readonly CaptureSummary[], sign: SignatureVariant): void {
  const counts = new Map<string, number>();
  for (const capture of captures) {
    const words = describeCapture(capture);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const answers = [...counts].map(([words, count]) => (counts.size === 1 ? words : `${count} × ${words}`));
  const [first] = captures;
  showNotice({
    tone: sign === "valid" ? worstTone(captures) : "plain",
    text: `Sent ${plural(captures.length, "delivery", "deliveries")}: ${answers.join(", ")}`,
    ...(first === undefined ? {} : { action: { label: "Open", run: () => goTo("deliveries", { open: first.id }) } }),
  });
}

function describeCapture(capture: CaptureSummary): string {
  if (isHeld(capture)) return "held for the app";
  if (capture.status === null && capture.error === null) return "kept, not forwarded";
  return capture.notReceived ? `${capture.status} with an HTML page, of no receiver` : describeAnswer(capture);
}

/** Of a delivery that is signed wrongly no answer is a fault by itself, so its notice has no tone. */
function worstTone(captures: readonly CaptureSummary[]): Notice["tone"] {
  const tones = captures.map((capture) => {
    if (isHeld(capture)) return "warn";
    return capture.status === null && capture.error === null ? "good" : judgeShown(capture);
  });
  return (["bad", "warn"] as const).find((tone) => tones.includes(tone)) ?? "good";
}
