import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { InboxOperator, StuckPiece, StuckWork } from "../inbox-operator.js";
import { type BesideReceivers, PAGE_ROWS, pagesOf } from "./beside-receivers.js";
import { selectStuck } from "../queries/select-stuck.js";
import { endPieces } from "./operations/stuck-work.js";
import { retryPieces } from "./retry-pieces.js";
import { runOnServer } from "./run-on-server.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

type StuckWorkChanges = Pick<InboxOperator, "retryWork" | "discardWork">;

/** Retries and discards stuck work in a database beside its receivers, a page at a time. */
export function changeStuckWorkOfDatabase({ read, write }: BesideReceivers): StuckWorkChanges {
  const pagesOfWork = (choice: StuckWork): AsyncGenerator<StuckPiece[]> =>
    pagesOf((after) =>
      read("listing work", (sql) =>
        runOnServer(sql, selectStuck({ choice, after: after ?? BEFORE_ALL, limit: PAGE_ROWS })),
      ),
    );

  return {
    async retryWork(choice) {
      const events = new Set<number>();
      let [handlers, readAgain, skipped] = [0, 0, 0];
      for await (const page of pagesOfWork(choice)) {
        const retried = await retryPieces({ read, write }, page);
        for (const { seq } of [...retried.pending, ...retried.readAgain]) events.add(seq);
        handlers += retried.pending.length;
        readAgain += retried.readAgain.length;
        skipped += retried.skipped;
      }
      return { events: events.size, handlers, readAgain, skipped };
    },
    async discardWork(choice) {
      const events = new Set<number>();
      let work = 0;
      for await (const pieces of pagesOfWork(choice)) {
        const ended = await write("discarding work", (sql, now) => endPieces(sql, { pieces, now }));
        work += ended.length;
        for (const { seq } of ended) events.add(seq);
      }
      return { events: events.size, work };
    },
  };
}
