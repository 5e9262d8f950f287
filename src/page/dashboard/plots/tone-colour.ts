import type { PlotTone } from "./plot-series.js";

let colours = new Map<PlotTone, string>();

const listeners = new Set<() => void>();

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colours = new Map();
  for (const redraw of listeners) redraw();
});

/** Calls back when the system changes between light and dark, until the returned function is called. */
export function onColoursChanged(redraw: () => void): () => void {
  listeners.add(redraw);
  return () => void listeners.delete(redraw);
}

/** The colour as a canvas understands it: `rgb(58, 86, 180)`. */
export function toneColour(tone: PlotTone): string {
  const known = colours.get(tone);
  if (known !== undefined) return known;
  const probe = document.createElement("span");
  probe.style.color = `var(--${tone})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  colours.set(tone, color);
  return color;
}

/** The colour with an opacity from 0 to 1. */
export function paleColour(tone: PlotTone, opacity: number): string {
  return toneColour(tone).replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}
