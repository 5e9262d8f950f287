import type { EventWork } from "../../operator/inbox-rows.js";
import { formatExactTime, formatTook } from "../ui/format.js";
import { shortText } from "../ui/short-text.js";

interface StepWaterfallOptions {
  work: EventWork;
  handler: string;
}

/**
 * The steps that a handler has finished, and its failed runs that are kept, each with the time since what ended before:
 * the reception, a step, or a failed run. Nothing for a handler without steps.
 */
export function StepWaterfall({ work: { event, steps, errors }, handler }: StepWaterfallOptions) {
  const own = steps.filter((step) => step.handler === handler);
  if (own.length === 0) return null;
  const { first, last } = errors[handler] ?? {};
  const failed = [first, last].filter(
    (run, index, all) => run !== undefined && run.attempt !== all[index - 1]?.attempt,
  );
  const ends = [
    ...own.map(({ name, at }) => ({ name, tone: "accent", at })),
    ...failed.flatMap((run) => (run === undefined ? [] : [{ name: `failed ${run.attempt}`, tone: "bad", at: run.at }])),
  ].toSorted((one, other) => one.at.localeCompare(other.at));
  const start = Date.parse(event.receivedAt);
  const span = Math.max(1, Date.parse(ends.at(-1)?.at ?? "") - start);
  return (
    <ol class="waterfall" aria-label="Steps, with the time since what ended before each">
      {ends.map(({ name, tone, at }, index) => {
        // Clocks of two processes may differ.
        const from = index === 0 ? start : Math.max(start, Date.parse(ends[index - 1]?.at ?? ""));
        const took = Math.max(0, Date.parse(at) - from);
        const place = { marginLeft: `${(100 * (from - start)) / span}%`, width: `${(100 * took) / span}%` };
        return (
          <li key={`${index} ${at} ${name}`} title={formatExactTime(at)}>
            <code>{shortText(name)}</code>
            <span class="waterfall-room">
              <span class={`waterfall-bar ${tone}`} style={place} />
            </span>
            <span class="number" title="Since what ended before">
              {formatTook(took)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
