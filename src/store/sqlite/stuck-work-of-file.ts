import type { Database } from "better-sqlite3";
import type { InboxOperator, StuckPiece, StuckWork } from "../inbox-operator.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { selectStuck } from "../queries/select-stuck.js";
import { type StuckChange, changeStuck } from "./change-stuck.js";
import { PAGE, changesBeside } from "./pages-beside.js";
import { runInFile } from "./run-in-file.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

type StuckWorkChanges = Pick<InboxOperator, "retryWork" | "discardWork">;

/** Retries and discards stuck work in a file beside its receiver, a page at a time. */
export function changeStuckWorkOfFile({ db, now }: { db: Database; now: () => number }): StuckWorkChanges {
  async function* changesOf(
    action: "retry" | "discard",
    choice: StuckWork,
  ): AsyncGenerator<StuckPiece & { became: StuckChange }> {
    for (const state of choice.state === undefined ? (["dead", "parked"] as const) : [choice.state]) {
      const pages = changesBeside(db, {
        readPage: (after: StuckPiece = BEFORE_ALL) =>
          runInFile(db, selectStuck({ choice: { ...choice, state }, after, limit: PAGE })),
        change: (piece) => ({ ...piece, became: changeStuck(db, action, { ...piece, now: now() }) }),
      });
      for await (const page of pages) yield* page;
    }
  }

  return {
    async retryWork(choice) {
      const events = new Set<number>();
      const total = { handlers: 0, readAgain: 0, skipped: 0 };
      for await (const { seq, handler, became } of changesOf("retry", choice)) {
        if (became === "left") total.skipped += 1;
        if (became !== "changed") continue;
        events.add(seq);
        total[handler === NOTE_HANDLER ? "readAgain" : "handlers"] += 1;
      }
      return { events: events.size, ...total };
    },
    async discardWork(choice) {
      const events = new Set<number>();
      let work = 0;
      for await (const { seq, became } of changesOf("discard", choice)) {
        if (became !== "changed") continue;
        events.add(seq);
        work += 1;
      }
      return { events: events.size, work };
    },
  };
}
