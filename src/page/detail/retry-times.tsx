import type { CaptureDetail } from "../../dev/api/page-api.js";
import { useSandbox } from "../state/sandbox.js";
import { plural } from "../ui/format.js";
import { AdvanceButton } from "./advance-button.js";
import { AttemptDots } from "./attempt-dots.js";
import { sandboxAttempts } from "./sandbox-attempts.js";

/**
 * The service's attempts at the event on one line: past ones solid, coming ones hollow. Nothing for a single one that
 * was taken. Of an event of the sandbox, by the sandbox's clock.
 */
export function RetryTimes({ value: { capture, retryLine } }: { value: CaptureDetail }) {
  const eventId = capture.event.id ?? "";
  const emulated = sandboxAttempts(useSandbox(), eventId);
  const { past, coming } = emulated ?? retryLine;
  const notComing = emulated === undefined ? retryLine.notComing : 0;
  if (past.length + coming.length + notComing < 2) return null;
  return (
    <section class="retry-times" aria-label="Attempts of the service">
      <p class="hint">{describeLine({ past: past.length, coming: coming.length, notComing })}</p>
      <AttemptDots line={{ past, coming }} openId={capture.id} />
      {emulated !== undefined && coming.length > 0 && <AdvanceButton eventId={eventId} />}
    </section>
  );
}

function describeLine({ past, coming, notComing }: { past: number; coming: number; notComing: number }): string {
  const before = `${plural(past, "attempt")} so far.`;
  if (notComing > 0) {
    return `${before} Nothing sends it again, since it was sent by hand or imported. The service would, up to ${plural(notComing, "more time")}.`;
  }
  if (coming === 0) return `${before} After the last answer the service does not send it again.`;
  return `${before} After the last answer the service sends it up to ${plural(coming, "more time")}, each wait 10 % longer or shorter.`;
}
