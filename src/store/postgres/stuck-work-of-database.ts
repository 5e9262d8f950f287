import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { InboxOperator, StuckPiece, StuckWork } from "../inbox-operator.js";
import { type BesideReceivers, PAGE_ROWS, pagesOf } from "./beside-receivers.js";
import { requestRetry } from "./operations/requested-retries.js";
import { countStuck, endPieces, resetPieceBesideOthers, resetPieces, selectStuck } from "./operations/stuck-work.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

type StuckWorkChanges = Pick<InboxOperator, "retryWork" | "countWork" | "discardWork">;

/** Retries and discards stuck work in a database beside its receivers, a page at a time. */
export function changeStuckWorkOfDatabase({ read, write }: BesideReceivers): StuckWorkChanges {
  const pagesOfWork = (choice: StuckWork): AsyncGenerator<StuckPiece[]> =>
    pagesOf((after) =>
      read("listing work", (sql) => selectStuck(sql, { choice, after: after ?? BEFORE_ALL, limit: PAGE_ROWS })),
    );

  /** Returns the pieces that are pending now. Those beside other bodies are few, and each has its own transaction. */
  async function retryPieces(pieces: readonly StuckPiece[]): Promise<StuckPiece[]> {
    const pending = await write("retrying work", (sql, now) => resetPieces(sql, { pieces, now }));
    const done = new Set(pending.map(keyOf));
    for (const piece of pieces.filter((candidate) => !done.has(keyOf(candidate)))) {
      const isPending = await write("retrying work", (sql, now) => resetPieceBesideOthers(sql, { ...piece, now }));
      if (isPending) pending.push(piece);
    }
    return pending;
  }

  /** Returns the numbers of the events that a receiver will read again. */
  function requestRetries(notes: readonly StuckPiece[]): Promise<number[]> {
    return write("requesting a retry", async (sql, now) => {
      const requested: number[] = [];
      for (const { seq } of notes) if (await requestRetry(sql, seq, now)) requested.push(seq);
      return requested;
    });
  }

  return {
    async retryWork(choice) {
      const events = new Set<number>();
      let [handlers, readAgain] = [0, 0];
      for await (const page of pagesOfWork(choice)) {
        const pending = await retryPieces(page.filter(({ handler }) => handler !== NOTE_HANDLER));
        const requested = await requestRetries(page.filter(({ handler }) => handler === NOTE_HANDLER));
        for (const seq of [...pending.map((piece) => piece.seq), ...requested]) events.add(seq);
        handlers += pending.length;
        readAgain += requested.length;
      }
      return { events: events.size, handlers, readAgain };
    },
    countWork: (choice) => read("counting work", (sql) => countStuck(sql, choice)),
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

const keyOf = ({ seq, handler }: StuckPiece): string => `${seq} ${handler}`;
