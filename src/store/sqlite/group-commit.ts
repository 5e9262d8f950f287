import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, PigeonholeError } from "../../base/error.js";
import type { Command, CommandResult, InputOf, OperationName, ResultOf } from "./inbox-database.js";
import type { Lease } from "../work.js";
import type { Writer } from "./writer.js";

/** Larger batches gain little and make everybody in them wait. */
const LARGEST_BATCH = 256;
const LARGEST_BATCH_BYTES = 8 * 1024 * 1024;

/** A locked database is tried again this often; with the busy timeout and the waits that is about 1.5 s of the service's 5 s. */
const BUSY_TRIES = 4;
const BUSY_WAIT_MS = 100;

/** Gives the leases whose work it has settled. */
type Turn = (broken: PigeonholeError | undefined) => readonly Lease[];

interface Entry {
  command: Command;
  bytes: number;
  resolve(value: unknown): void;
  reject(error: PigeonholeError): void;
}

/**
 * Turns calls into batches. There is no timer: whatever arrived while the last batch was committed is the next one, and only
 * one is under way. Between batches nobody writes, so a turn taken there never meets the writer as SQLITE_BUSY. A turn blocks the
 * event loop for as long as its commit takes, so the loop runs before it and after it, and a batch comes between two turns.
 */
export class GroupCommit {
  readonly #writer: Writer;
  readonly #queue: Entry[] = [];
  readonly #turns: Turn[] = [];
  /** Settled in turns, and unknown to the writer. */
  #ended: Lease[] = [];
  #underWay = false;
  #scheduled = false;
  #hadTurn = false;
  #refusal: PigeonholeError | undefined;
  #broken: PigeonholeError | undefined;
  #idle: (() => void)[] = [];
  #tellBroken: (error: PigeonholeError) => void = () => undefined;
  /** Resolves with the first failure after which nothing may be written any more. */
  readonly broken: Promise<PigeonholeError>;

  constructor(writer: Writer) {
    this.#writer = writer;
    this.broken = new Promise((resolve) => (this.#tellBroken = resolve));
    void writer.fault.then((error) => this.break(error));
  }

  /** Runs an operation in the next batch; resolves with its result after the commit. */
  run<Name extends OperationName>(op: Name, input: InputOf<Name>, bytes = 0): Promise<ResultOf<Name>> {
    return new Promise<ResultOf<Name>>((resolve, reject) => {
      if (this.#refusal !== undefined) return reject(this.#refusal);
      const command = { op, input } as Command;
      this.#queue.push({ command, bytes, resolve, reject });
      this.#schedule();
    });
  }

  /** Calls back once while no batch is under way; the callback must be synchronous, and write nothing when given an error. */
  takeTurn(turn: Turn): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#turns.push(turn);
    this.#schedule();
  }

  /** Refuses what comes from now on and resolves when all that came before is settled. */
  async finish(refusal: PigeonholeError): Promise<void> {
    this.#refusal ??= refusal;
    if (!this.#underWay && !this.#scheduled) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * After an I/O error a later fsync may claim success for pages that were dropped, and files that were taken away keep nothing,
   * so nothing is answered 2xx any more: what waits is refused as well.
   */
  break(failure: { code: ErrorCode; message: string }): void {
    this.#broken ??=
      failure.code === "store_replaced" || failure.code === "store_corrupt"
        ? new PigeonholeError(failure.code, failure.message)
        : new PigeonholeError(
            "store_failed",
            `${failure.message} The store takes nothing more; mend the disk and restart the process.`,
          );
    this.#refusal ??= this.#broken;
    this.#tellBroken(this.#broken);
  }

  /** Waits for the end of the current event-loop turn, so that requests that came in together share a batch. */
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
      for (const turn of this.#turns.splice(0)) this.#ended.push(...turn(this.#broken));
      // What came in while the turn waited for the disk shares the next batch.
      this.#schedule();
      return;
    }
    if (this.#broken !== undefined) for (const entry of this.#queue.splice(0)) entry.reject(this.#broken);
    if (this.#queue.length === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
      return;
    }
    this.#underWay = true;
    void this.#runBatch(this.#takeBatch());
  }

  #takeBatch(): Entry[] {
    let bytes = 0;
    let size = 0;
    for (const entry of this.#queue) {
      bytes += entry.bytes;
      if (size > 0 && (size >= LARGEST_BATCH || bytes > LARGEST_BATCH_BYTES)) break;
      size += 1;
    }
    return this.#queue.splice(0, size);
  }

  async #runBatch(batch: Entry[]): Promise<void> {
    const ended = this.#ended;
    this.#ended = [];
    const results = await this.#runWhileBusy(
      batch.map((entry) => entry.command),
      ended,
    );
    for (const [index, entry] of batch.entries()) {
      const result = results[index];
      if (result?.ok) {
        entry.resolve(result.value);
      } else {
        const { code, message } = result ?? { code: "store_failed" as const, message: "The store gave no result." };
        entry.reject(new PigeonholeError(code, message));
      }
    }
    this.#underWay = false;
    // The answers of this batch go out before a turn blocks the loop.
    if (this.#turns.length > 0) this.#schedule();
    else this.#next();
  }

  async #runWhileBusy(commands: Command[], ended: readonly Lease[]): Promise<CommandResult[]> {
    for (let attempt = 1; ; attempt += 1) {
      const results = await this.#runOnce(commands, ended);
      const first = results[0];
      const breaking = results.find((result) => !result.ok && result.breaking);
      if (breaking?.ok === false) this.break(breaking);
      const isBusy = first?.ok === false && first.code === "store_busy";
      if (!isBusy || attempt === BUSY_TRIES) return results;
      await sleep(BUSY_WAIT_MS);
    }
  }

  async #runOnce(commands: Command[], ended: readonly Lease[]): Promise<CommandResult[]> {
    try {
      return await this.#writer.run(commands, ended);
    } catch (error) {
      const { code, message } =
        error instanceof PigeonholeError ? error : new PigeonholeError("store_failed", String(error));
      return commands.map(() => ({ ok: false, code, message, breaking: code === "store_failed" }));
    }
  }
}
