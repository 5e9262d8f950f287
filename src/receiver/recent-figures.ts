import { addToRow } from "../store/figure-rows.js";
import { stepAt, toFigureSeries } from "../store/figure-series.js";
import { FIGURE_RANGES, type Figures, type FigureSeries } from "../store/figures.js";
import { fromStoredFigures } from "../store/stored-figures.js";

const RANGE = "1h";

/** What happened in this process in the last hour, for as long as nobody can read it in the store. */
export class RecentFigures {
  /** Figures as the store keeps them, which bounds them, by the begin of their step. */
  readonly #rows = new Map<number, string>();

  add(figures: Figures, now: number): void {
    const { stepMs, keptMs } = FIGURE_RANGES[RANGE];
    const step = stepAt(now, stepMs);
    this.#rows.set(step, addToRow(this.#rows.get(step), figures));
    for (const at of this.#rows.keys()) if (at > step || at <= step - keptMs) this.#rows.delete(at);
  }

  /** Up to `now`. */
  read(now: number): FigureSeries {
    const rows = [...this.#rows].map(([step, text]) => ({ step, figures: fromStoredFigures(text) }));
    return toFigureSeries(rows, { range: RANGE, now });
  }
}
