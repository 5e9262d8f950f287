import type { PlotTone } from "./plot-series.js";

interface SparklineOptions {
  /** Of the first to the last step; null where nothing is known. */
  values: readonly (number | null)[];
  tone: PlotTone;
  /** What it counts: for screen readers, and while the pointer is over it. */
  label: string;
}

/** Bars in the height of a line of text, without axes. */
export function Sparkline({ values, tone, label }: SparklineOptions) {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const bars = values.map((value, at) => `M${at + 0.1} 1v${-(value ?? 0) / most}h.8V1z`);
  return (
    <svg
      class={`sparkline ${tone}`}
      viewBox={`0 0 ${Math.max(1, values.length)} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path fill="currentColor" d={bars.join("")} />
    </svg>
  );
}
