import type { Database } from "better-sqlite3";
import type { InboxOperator, OperatorRetry, StuckPiece, StuckWork } from "../inbox-operator.js";
import { NOTE_HANDLER } from "../../base/note-handler.js";
import { prepareEndPiece, prepareRetryPiece } from "./operations/replan.js";
import { prepareRequestRetry } from "./operations/requested-retries.js";
import { prepareCountStuck, prepareSelectStuck } from "./operations/stuck-work.js";
import { PAGE, pagesBeside } from "./pages-beside.js";
import { runBeside } from "./run-beside.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

type StuckWorkChanges = Pick<InboxOperator, "retryWork" | "countWork" | "discardWork">;

/** Retries and discards stuck work in a file beside its receiver, a page at a time. */
export function changeStuckWork({ db, now }: { db: Database; now: () => number }): StuckWorkChanges {
  const select = prepareSelectStuck(db);
  const count = prepareCountStuck(db);
  const retryPiece = prepareRetryPiece(db);
  const requestRetry = prepareRequestRetry(db);
  const endPiece = prepareEndPiece(db);

  async function* pagesOf(choice: StuckWork): AsyncGenerator<StuckPiece[]> {
    for (const state of choice.state === undefined ? (["dead", "parked"] as const) : [choice.state]) {
      yield* pagesBeside(db, (after: StuckPiece = BEFORE_ALL) => select({ choice, state, after, limit: PAGE }));
    }
  }

  return {
    async retryWork(choice) {
      const events = new Set<number>();
      const total: OperatorRetry = { handlers: 0, readAgain: 0 };
      for await (const page of pagesOf(choice)) {
        const at = now();
        const retried = await runBeside(db, "immediate", () =>
          page.map(({ seq, handler }) =>
            handler === NOTE_HANDLER
              ? { seq, handlers: 0, readAgain: Number(requestRetry({ seq, now: at })) }
              : { seq, handlers: retryPiece({ seq, handler, now: at }), readAgain: 0 },
          ),
        );
        for (const { seq, handlers, readAgain } of retried) {
          if (handlers + readAgain > 0) events.add(seq);
          total.handlers += handlers;
          total.readAgain += readAgain;
        }
      }
      return { events: events.size, ...total };
    },
    countWork: (choice) => runBeside(db, "deferred", () => count(choice)),
    async discardWork(choice) {
      const events = new Set<number>();
      let work = 0;
      for await (const page of pagesOf(choice)) {
        const at = now();
        const ended = await runBeside(db, "immediate", () =>
          page.filter(({ seq, handler }) => endPiece({ seq, handler, now: at }) > 0),
        );
        work += ended.length;
        for (const { seq } of ended) events.add(seq);
      }
      return { events: events.size, work };
    },
  };
}
