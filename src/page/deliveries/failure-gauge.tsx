import { computed } from "@preact/signals";
import { judgeAnswer } from "../../capture/model/answer.js";
import type { CaptureSummary } from "../../capture/model/capture.js";
import { isHeld } from "../../dev/forward/held-tag.js";
import { LIMITS } from "../../protocol/limits.js";
import { captures, loadedQuery, query } from "../state/captures.js";

const most = LIMITS.disableAfterFailures;

let last = 0;

/** Answers that were not 2xx since the last one that was. A search shows only some, so the last number stays. */
const failures = computed(() => {
  if (query.value !== "" || loadedQuery.value !== "") return last;
  const answered = captures.value.filter(isCounted);
  const success = answered.findIndex((capture) => judgeAnswer(capture) !== "bad");
  last = success === -1 ? answered.length : success;
  return last;
});

/**
 * What is not signed is of a stranger, a replay is not of the service, a held delivery was answered 202, and one that
 * was not sent says nothing.
 */
function isCounted(capture: CaptureSummary): boolean {
  if (capture.verdict === "missing" || capture.replayed || isHeld(capture)) return false;
  return capture.status !== null || capture.error !== null;
}

/** How near the failures in a row are to the number at which the service switches an endpoint off. */
export function FailureGauge() {
  return failures.value === 0 ? null : <FailureLevel count={failures.value} />;
}

/** So many failures in a row, of the most. */
export function FailureLevel({ count: counted }: { count: number }) {
  const count = Math.min(counted, most);
  return (
    <span class="failure-gauge" title={`The service switches an endpoint off after ${most} failures in a row.`}>
      <meter aria-label="Failures in a row" max={most} low={1} high={most / 2} optimum={0} value={count} />
      {count} / {most} failed in a row
    </span>
  );
}
