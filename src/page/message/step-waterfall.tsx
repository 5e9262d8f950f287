import { formatRunTimeBound } from "../../base/run-time-bounds.js";
import { formatExactTime, shortText } from "../text/format.js";
import type { HandlerDetail } from "../../store/inbox-view.js";

interface StepWaterfallOptions {
  /** When the event was received. */
  receivedAt: string;
  work: Pick<HandlerDetail, "steps" | "failed">;
}

/**
 * The steps that a handler has finished, and its failed runs that are kept, each with the time since what ended before:
 * the reception, a step, or a failed run. Nothing for a handler without steps.
 */
export function StepWaterfall({ receivedAt, work: { steps, failed } }: StepWaterfallOptions) {
  if (steps.length === 0) return null;
  const kept = failed === null ? [] : [failed.first, failed.last];
  const runs = kept.filter(({ attempt }, index) => attempt !== kept[index - 1]?.attempt);
  const ends = [
    ...steps.map(({ name, at }) => ({ name, tone: "accent", at })),
    ...runs.map(({ attempt, at }) => ({ name: `failed ${attempt}`, tone: "bad", at })),
  ].toSorted((one, other) => one.at.localeCompare(other.at));
  const start = Date.parse(receivedAt);
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
              {formatRunTimeBound(took)}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
