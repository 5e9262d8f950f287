import { formatRunTimeBound } from "../../base/run-time-bounds.js";
import { plural } from "../ui/format.js";
import type { TimesBin } from "./answer-times.js";

interface TimesChartOptions {
  bins: readonly TimesBin[];
  /** What is counted, such as `answer`. */
  what: string;
  /** Where the bins begin that are too long, in milliseconds; it is marked. */
  limit?: number;
}

/** How many took how long. */
export function TimesChart({ bins, what, limit }: TimesChartOptions) {
  const most = Math.max(...bins.map(({ done, failed }) => done + failed));
  return (
    <ol class="times-chart" aria-label={`Number of ${what}s by the time that they took`}>
      {bins.map((bin) => (
        <li key={bin.from} class={bin.from === limit ? "limit" : ""} title={describeBin(bin, what)}>
          <span class="unseen">{describeBin(bin, what)}</span>
          <span class="times-room" aria-hidden="true">
            <Part tone="accent" share={bin.done / most} />
            <Part tone="bad" share={bin.failed / most} />
          </span>
          <span class="times-bound" aria-hidden="true">
            {formatRunTimeBound(bin.from)}
            {bin.from === limit && ": too late"}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Part({ tone, share }: { tone: string; share: number }) {
  return share > 0 ? <span class={`time-part ${tone}`} style={{ height: `${100 * share}%` }} /> : null;
}

/** Such as `5 ms to 10 ms: 12 runs, 1 failed`. */
function describeBin({ from, to, done, failed }: TimesBin, what: string): string {
  const range =
    to === Number.POSITIVE_INFINITY
      ? `${formatRunTimeBound(from)} or longer`
      : `${formatRunTimeBound(from)} to ${formatRunTimeBound(to)}`;
  const count = done + failed;
  const counted = count === 0 ? `no ${what}s` : plural(count, what);
  return `${range}: ${counted}${failed === 0 ? "" : `, ${failed} failed`}`;
}
