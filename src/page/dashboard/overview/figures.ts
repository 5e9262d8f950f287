import { computed, signal } from "@preact/signals";
import type { OverviewFigures, FigureRange } from "../../../dashboard/state-now.js";
import { runAction } from "../../state/notice.js";
import { fetchOverview } from "../../api/calls.js";
import { readParam, view } from "../../state/address.js";
import { fitToData, shorterRange } from "./fit-to-data.js";
import { now, streamState } from "../../state/now.js";

/** The figures of the chosen range; null before they are loaded. */
export const figures = signal<OverviewFigures | null>(null);

/** The spans of plots, the shortest first. */
export const RANGES: readonly { name: FigureRange; label: string }[] = [
  { name: "1h", label: "1 hour" },
  { name: "24h", label: "24 hours" },
  { name: "7d", label: "7 days" },
];

export const range = computed(() => RANGES.find(({ name }) => name === readParam("range"))?.name ?? "1h");

/** The handler whose runs are plotted; empty for all together. */
export const chosenHandler = computed(() => readParam("handler"));

/** The figures of the range; of a shorter one if nothing is older, so that the first day is not one bar. */
async function readFitting(wanted: FigureRange): Promise<OverviewFigures> {
  const read = await fetchOverview(wanted);
  const shorter = shorterRange(read);
  return shorter === undefined ? read : readFitting(shorter);
}

/** Reads the figures; an answer for another range than the chosen one is dropped. Rejects if the app is silent. */
export async function readPlotted(): Promise<void> {
  const wanted = range.value;
  const read = await readFitting(wanted);
  if (range.value === wanted) figures.value = fitToData(read);
  // Without a stream, this is all that tells it.
  if (streamState.value !== "live" || now.value === null) now.value = read.now;
}

/** Reads the figures, if they are in sight. */
export async function loadFigures(): Promise<void> {
  if (view.value === "overview" && document.visibilityState === "visible") await runAction(readPlotted);
}
