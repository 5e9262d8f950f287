import { NOTE_HANDLER } from "../../base/note-handler.js";
import type { InboxOperator, StuckPiece, StuckWork } from "../inbox-operator.js";
import { type BesideReceivers, PAGE_ROWS, pagesOf } from "./beside-receivers.js";
import { requestRetry } from "./operations/requested-retries.js";
import {
  countStillStuck,
  countStuck,
  endPieces,
  resetPieceBesideOthers,
  resetPieces,
  selectStuck,
} from "./operations/stuck-work.js";

const BEFORE_ALL: StuckPiece = { seq: 0, handler: NOTE_HANDLER };

type StuckWorkChanges = Pick<InboxOperator, "retryWork" | "countWork" | "discardWork">;

/** `skipped`: pieces that cannot be changed. */
interface RetriedPieces {
  pending: StuckPiece[];
  skipped: number;
}

/** Retries and discards stuck work in a database beside its receivers, a page at a time. */
export function changeStuckWorkOfDatabase({ read, write }: BesideReceivers): StuckWorkChanges {
  const { retryPieces, requestRetries } = retryBeside({ read, write });
  const pagesOfWork = (choice: StuckWork): AsyncGenerator<StuckPiece[]> =>
    pagesOf((after) =>
      read("listing work", (sql) => selectStuck(sql, { choice, after: after ?? BEFORE_ALL, limit: PAGE_ROWS })),
    );

  return {
    async retryWork(choice) {
      const events = new Set<number>();
      let [handlers, readAgain, skipped] = [0, 0, 0];
      for await (const page of pagesOfWork(choice)) {
        const retried = await retryPieces(page.filter(({ handler }) => handler !== NOTE_HANDLER));
        const requested = await requestRetries(page.filter(({ handler }) => handler === NOTE_HANDLER));
        for (const { seq } of [...retried.pending, ...requested.pending]) events.add(seq);
        handlers += retried.pending.length;
        readAgain += requested.pending.length;
        skipped += retried.skipped + requested.skipped;
      }
      return { events: events.size, handlers, readAgain, skipped };
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

/** Retries pieces of a page. */
function retryBeside({ read, write }: BesideReceivers) {
  /** Those beside other bodies are few, and each has its own transaction. */
  async function retryPieces(pieces: readonly StuckPiece[]): Promise<RetriedPieces> {
    const pending = await write("retrying work", (sql, now) => resetPieces(sql, { pieces, now }));
    const done = new Set(pending.map(keyOf));
    let skipped = 0;
    const left: StuckPiece[] = [];
    for (const piece of pieces.filter((candidate) => !done.has(keyOf(candidate)))) {
      const became = await write("retrying work", (sql, now) => resetPieceBesideOthers(sql, { ...piece, now }));
      if (became === "pending") pending.push(piece);
      else if (became === "ended") skipped += 1;
      else left.push(piece);
    }
    return { pending, skipped: skipped + (await stillStuck(left)) };
  }

  /** `pending`: the notes of events that a receiver will read again. */
  async function requestRetries(notes: readonly StuckPiece[]): Promise<RetriedPieces> {
    const pending = await write("requesting a retry", async (sql, now) => {
      const requested: StuckPiece[] = [];
      for (const note of notes) if (await requestRetry(sql, note.seq, now)) requested.push(note);
      return requested;
    });
    const left = notes.filter((note) => !pending.includes(note));
    return { pending, skipped: await stillStuck(left) };
  }

  async function stillStuck(left: readonly StuckPiece[]): Promise<number> {
    return left.length === 0 ? 0 : read("looking at work", (sql) => countStillStuck(sql, left));
  }

  return { retryPieces, requestRetries };
}

const keyOf = ({ seq, handler }: StuckPiece): string => `${seq} ${handler}`;
