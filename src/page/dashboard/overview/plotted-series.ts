import { describeRunTime, runTimeEnd } from "../../../base/run-time-bounds.js";
import type { OverviewFigures, StepValues } from "../../../dashboard/state-now.js";
import { LIMITS } from "../../../protocol/limits.js";
import type { OutcomeKind } from "../../../protocol/outcome.js";
import { addUp, type PlotSeries, type PlotTone } from "../plots/plot-series.js";

/** Outcomes with a layer of their own, from the ground up; all others are refusals and share the last one. */
const LAYERS: readonly { label: string; tone: PlotTone; kinds: readonly OutcomeKind[] }[] = [
  { label: "accepted", tone: "good", kinds: ["accepted"] },
  { label: "duplicate", tone: "accent", kinds: ["duplicate"] },
  { label: "parked", tone: "mute", kinds: ["parked"] },
  { label: "not verified", tone: "warn", kinds: ["unsigned", "unreadable", "unverified", "secrets_unavailable"] },
];

/** Deliveries by what became of them, as layers that lie on one another. */
export function answerSeries(answers: OverviewFigures["answers"]): PlotSeries[] {
  const named = new Set<string>(LAYERS.flatMap(({ kinds }) => kinds));
  const layers: PlotSeries[] = LAYERS.map(({ label, tone, kinds }) => ({
    label,
    tone,
    values: addUp(kinds.flatMap((kind) => (answers[kind] === undefined ? [] : [answers[kind]]))),
  }));
  const refused = Object.entries(answers).flatMap(([kind, values]) => (named.has(kind) ? [] : [values]));
  return [...layers, { label: "refused", tone: "bad" as const, values: addUp(refused) }].filter(
    ({ label, values }) => label === "accepted" || values.some((value) => value !== null && value > 0),
  );
}

/** How long the service waits for an answer, over all steps; nothing where no answer is known. */
export function waitSeries(times: StepValues): PlotSeries {
  const isKnown = times.some((time) => time !== null);
  const values = times.map(() => (isKnown ? LIMITS.deliveryTimeoutMs : null));
  return { label: "the service waits", tone: "mute", values };
}

interface TimeSeriesOptions {
  label: string;
  tone: PlotTone;
  /** Lower bounds of the ranges that the times are in. */
  fromMs: StepValues;
}

/** A line at the ends of the ranges that times are in; of the range without an end, at its begin. */
export function timeSeries({ label, tone, fromMs }: TimeSeriesOptions): PlotSeries {
  return {
    label,
    tone,
    values: fromMs.map((from) => (from === null ? null : (runTimeEnd(from) ?? from))),
    texts: fromMs.map((from) => (from === null ? null : describeRunTime(runTimeEnd(from)))),
  };
}
