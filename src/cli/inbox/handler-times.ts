import { describeRunTime } from "../../base/run-time-bounds.js";
import { escapeControls } from "../../base/text.js";
import type { HandlerTimes } from "../../store/handler-times.js";
import { formatTable } from "../frame/format.js";
import type { Paint } from "../frame/output.js";

/** Lines with one handler each. */
export function describeHandlerTimes(times: readonly HandlerTimes[], paint: Paint): string[] {
  if (times.length === 0) return ["  none"];
  const rows = times.map(({ handler, runs, failed, medianMs, p95Ms }) => [
    escapeControls(handler),
    String(runs),
    failed === 0 ? "0" : paint.red(`${failed} (${share(failed, runs)})`),
    describeRunTime(medianMs),
    describeRunTime(p95Ms),
  ]);
  const table = formatTable(["HANDLER", "RUNS", "FAILED", "MEDIAN", "P95"], rows, paint.dim);
  return table.split("\n").map((line) => `  ${line}`);
}

/** Never 0 % or 100 % of some. */
function share(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return percent < 1 ? "< 1 %" : `${Math.floor(percent)} %`;
}
