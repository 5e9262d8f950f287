import { computed, signal } from "@preact/signals";
import type { OverviewFigures, FigureRange } from "../../../web/api/overview.js";
import { reportProblem } from "../../state/notice.js";
import { fetchOverview } from "../../api/calls.js";
import { readParam, view } from "../../state/address.js";
import { fitToData } from "./fit-to-data.js";
import { now } from "../../state/now.js";

/** The figures of the chosen range; null before they are loaded. */
export const figures = signal<OverviewFigures | null>(null);

/** The spans of plots, the shortest first. */
export const RANGES = ["1h", "24h", "7d"] as const satisfies readonly FigureRange[];

export const range = computed(() => RANGES.find((name) => name === readParam("range")) ?? "1h");

/** The handler whose runs are plotted; empty for all together. */
export const chosenHandler = computed(() => readParam("handler"));

/** Reads the figures, if they are in sight; an answer for another range than the chosen one is dropped. */
export async function loadFigures(): Promise<void> {
  const wanted = range.value;
  if (view.value !== "overview" || document.visibilityState === "hidden") return;
  try {
    const read = await fetchOverview(wanted);
    if (range.value !== wanted) return;
    figures.value = fitToData(read);
    now.value ??= read.now;
  } catch (error) {
    reportProblem(error);
  }
}

/** Reads what the stream would bring. Rejects if the app does not answer. */
export async function readWithoutStream(): Promise<void> {
  const wanted = range.value;
  const read = await fetchOverview(wanted);
  if (range.value === wanted) figures.value = fitToData(read);
  now.value = read.now;
}
