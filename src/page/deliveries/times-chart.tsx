import { formatRunTimeBound } from "../../base/run-time-bounds.js";
import { LIMITS } from "../../protocol/limits.js";
import { plural } from "../text/format.js";
import type { TimesBin } from "./answer-times.js";

/** How many answers took how long. Those that took longer than the service waits are marked. */
export function TimesChart({ bins }: { bins: readonly TimesBin[] }) {
  const most = Math.max(...bins.map(({ done, failed }) => done + failed));
  return (
    <ol class="times-chart" aria-label="Number of answers by the time that they took">
      {bins.map((bin) => (
        <li key={bin.from} class={bin.from === LIMITS.deliveryTimeoutMs ? "limit" : ""} title={describeBin(bin)}>
          <span class="unseen">{describeBin(bin)}</span>
          <span class="times-room" aria-hidden="true">
            <Part tone="accent" share={bin.done / most} />
            <Part tone="bad" share={bin.failed / most} />
          </span>
          <span class="times-bound" aria-hidden="true">
            {formatRunTimeBound(bin.from)}
            {bin.from === LIMITS.deliveryTimeoutMs && ": too late"}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Part({ tone, share }: { tone: string; share: number }) {
  return share > 0 ? <span class={`time-part ${tone}`} style={{ height: `${100 * share}%` }} /> : null;
}

/** Such as `5 ms to 10 ms: 12 answers, 1 failed`. */
function describeBin({ from, to, done, failed }: TimesBin): string {
  const range =
    to === Number.POSITIVE_INFINITY
      ? `${formatRunTimeBound(from)} or longer`
      : `${formatRunTimeBound(from)} to ${formatRunTimeBound(to)}`;
  const count = done + failed;
  const counted = count === 0 ? "no answers" : plural(count, "answer");
  return `${range}: ${counted}${failed === 0 ? "" : `, ${failed} failed`}`;
}
