import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, PigeonholeError } from "../../base/error.js";
import type { AcceptResult, NewEvent, SettleResult } from "../store.js";
import { BUSY_WAITS } from "../while-busy.js";
import type { Settlement } from "../work.js";
import { BatchPacker, type BatchResults, type CommandResult, failureOf, unpackAccepted } from "./batch.js";
import { createTokenSource } from "./operations/lease.js";
import type { Accepted } from "./operations/accept.js";
import type { InputOf, OperationName, OtherCommand, ResultOf } from "./prepare-operations.js";
import type { Writer } from "./writer.js";

/** Larger batches gain little, and all calls in them wait longer. */
const MAX_BATCH = 256;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * Done runs wait this long for an event to be committed with, because a commit costs as much as handling several
 * events. Their work has ended: its event is released, and its handler has its place back.
 */
const DONE_WAIT_MS = 5;

/** True when it wants another turn, after the next batch. */
type Turn = (broken: PigeonholeError | undefined) => boolean;

/** A batch that calls are added to until it is under way; they share one promise. */
class WaitingBatch extends BatchPacker {
  /** Contains only done runs, which wait for other calls. */
  mayWait = true;
  resolve: (results: BatchResults) => void = () => undefined;
  reject: (error: PigeonholeError) => void = () => undefined;
  readonly committed = new Promise<BatchResults>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  hasRoomFor(bytes: number): boolean {
    return this.commands.length < MAX_BATCH && this.bytes + bytes <= MAX_BATCH_BYTES;
  }
}

/**
 * Turns calls into batches. Only done runs wait, and only for a moment; otherwise the calls that arrive during one
 * commit are the next batch, and only one batch is in progress. Between batches there are no writes, so a turn taken
 * there never collides with the writer (SQLITE_BUSY). A turn blocks the event loop for as long as its commit takes, so
 * the loop runs before it and after it, and a batch comes between two turns.
 */
export class GroupCommit {
  readonly #writer: Writer;
  readonly #queue: WaitingBatch[] = [];
  readonly #turns: Turn[] = [];
  readonly #takeTokens = createTokenSource();
  #underWay = false;
  #scheduled = false;
  #isWaitingForOthers = false;
  #hadTurn = false;
  #refusal: PigeonholeError | undefined;
  #broken: PigeonholeError | undefined;
  #idle: (() => void)[] = [];
  #reportBroken: (error: PigeonholeError) => void = () => undefined;
  /** Resolves with the first failure after which nothing more may be written. */
  readonly broken: Promise<PigeonholeError>;

  constructor(writer: Writer) {
    this.#writer = writer;
    this.broken = new Promise((resolve) => (this.#reportBroken = resolve));
    void writer.filesLost.then((error) => this.break(error));
  }

  /** Each of these methods waits until its batch is committed, and resolves with its result. */
  accept(event: NewEvent): Promise<AcceptResult> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    const batch = this.#batchFor(event.body.byteLength);
    batch.mayWait = false;
    const { work } = event;
    const token = this.#takeTokens(work.length);
    const place = batch.accept(event, token);
    return batch.committed.then(({ results }) => unpackAccepted(valueOf(results[place]) as Accepted, work, token));
  }

  settle(settlement: Settlement): Promise<SettleResult> {
    if (settlement.to !== "done") return this.run("settle", settlement);
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    const batch = this.#batchFor(0);
    const place = batch.done(settlement);
    return batch.committed.then(({ results }) => valueOf(results[place]) as SettleResult);
  }

  run<Name extends OperationName>(op: Name, input: InputOf<Name>): Promise<ResultOf<Name>> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    const batch = this.#batchFor(0);
    batch.mayWait = false;
    const place = batch.add({ op, input } as OtherCommand);
    return batch.committed.then(({ results }) => valueOf(results[place]) as ResultOf<Name>);
  }

  /**
   * Calls back once while no batch is in progress; the callback must be synchronous, and write nothing when given an
   * error.
   */
  takeTurn(turn: Turn): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#turns.push(turn);
    this.#schedule();
  }

  /** The failure after which nothing more may be written. */
  get failure(): PigeonholeError | undefined {
    return this.#broken;
  }

  /** Refuses new calls, and resolves when all earlier ones are settled. */
  async finish(refusal: PigeonholeError): Promise<void> {
    this.#refusal ??= refusal;
    if (this.#queue.length > 0) this.#schedule();
    if (!this.#underWay && !this.#scheduled) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * After an I/O error a later fsync may claim success for pages that were dropped, and removed files keep nothing, so
   * nothing is answered 2xx any more: waiting calls are refused as well.
   */
  break(failure: { code: ErrorCode; message: string }): void {
    this.#broken ??=
      failure.code === "store_replaced" || failure.code === "store_corrupt"
        ? new PigeonholeError(failure.code, failure.message)
        : new PigeonholeError(
            "store_failed",
            `${failure.message} The store accepts nothing more; fix the disk, then restart the process.`,
          );
    this.#refusal ??= this.#broken;
    this.#reportBroken(this.#broken);
  }

  /** Waits for the end of the current event-loop turn, so that requests that arrive together share a batch. */
  #schedule(): void {
    if (this.#underWay || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#next();
    });
  }

  #next(): void {
    if (this.#underWay) return;
    const isTurn = this.#turns.length > 0 && (!this.#hadTurn || this.#queue.length === 0);
    this.#hadTurn = isTurn;
    if (isTurn) {
      for (const turn of this.#turns.splice(0)) {
        if (turn(this.#broken)) this.#turns.push(turn);
      }
      // Calls that arrived while the turn waited for the disk share the next batch.
      this.#schedule();
      return;
    }
    if (this.#broken !== undefined) for (const batch of this.#queue.splice(0)) batch.reject(this.#broken);
    const [batch] = this.#queue;
    if (batch === undefined) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    if (this.#writer.isThread && batch.mayWait && this.#queue.length === 1 && this.#refusal === undefined) {
      // A turn that came in meanwhile does not wait with them.
      if (this.#turns.length > 0) this.#schedule();
      else this.#waitForOthers();
      return;
    }
    this.#queue.shift();
    this.#underWay = true;
    void this.#runBatch(batch);
  }

  #waitForOthers(): void {
    if (this.#isWaitingForOthers) return;
    this.#isWaitingForOthers = true;
    setTimeout(() => {
      this.#isWaitingForOthers = false;
      const [batch] = this.#queue;
      if (batch !== undefined) batch.mayWait = false;
      this.#schedule();
    }, DONE_WAIT_MS);
  }

  /** The batch that the next call is added to. */
  #batchFor(bytes: number): WaitingBatch {
    this.#schedule();
    const last = this.#queue.at(-1);
    if (last?.hasRoomFor(bytes) === true) return last;
    const batch = new WaitingBatch();
    this.#queue.push(batch);
    return batch;
  }

  async #runBatch(batch: WaitingBatch): Promise<void> {
    batch.resolve(await this.#runWhileBusy(batch));
    this.#underWay = false;
    // The answers of this batch are sent before a turn blocks the loop.
    if (this.#turns.length > 0) this.#schedule();
    else this.#next();
  }

  async #runWhileBusy(batch: BatchPacker): Promise<BatchResults> {
    const { tries, waitMs } = BUSY_WAITS.batch;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#runOnce(batch);
      const breaking = answer.results.map(failureOf).find((failure) => failure?.breaking);
      if (breaking !== undefined) this.break(breaking);
      // Commands that were run one by one may have been committed.
      const isBusy = answer.results.every((result) => failureOf(result)?.code === "store_busy");
      if (!isBusy || attempt === tries) return answer;
      await sleep(waitMs);
    }
  }

  async #runOnce(batch: BatchPacker): Promise<BatchResults> {
    try {
      return await this.#writer.run(batch);
    } catch (error) {
      const { code, message } =
        error instanceof PigeonholeError ? error : new PigeonholeError("store_failed", String(error));
      const failure: CommandResult = { ok: false, code, message, breaking: code === "store_failed" };
      return { results: batch.commands.map(() => failure) };
    }
  }
}

function valueOf(result: CommandResult | undefined): unknown {
  if (typeof result !== "object") {
    if (result !== undefined) return result;
  } else if (!("ok" in result)) return result;
  else if (result.ok) return result.value;
  const { code, message } = failureOf(result) ?? { code: "store_failed", message: "The store gave no result." };
  throw new PigeonholeError(code, message);
}
