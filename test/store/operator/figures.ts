import { expect, test } from "vitest";
import { NO_FIGURES } from "#pigeonhole/store/figure-rows.js";
import { processStatus } from "../conformance/figures.js";
import { type OperatorKind, openBoth } from "./operator-kind.js";

/** What the processes wrote of themselves, from outside the receiver. */
export function describeFiguresOfOperator(kind: OperatorKind): void {
  test("a look from outside sees figures and statuses up to now", async () => {
    const { store, inbox } = await openBoth(kind);
    expect(await inbox.readStatuses()).toEqual([]);
    const now = Date.now();
    const status = processStatus({ runningCount: 2 });
    await store.writeFigures({ process: "p1", now, figures: { ...NO_FIGURES, answers: { accepted: 3 } }, status });
    expect(await inbox.readStatuses()).toMatchObject([{ process: "p1", runningCount: 2 }]);
    for (const range of ["1h", "24h", "7d"] as const) {
      const { answers } = await inbox.readFigures(range);
      expect(answers.accepted?.slice(-3)).toContain(3);
    }
  });
}
