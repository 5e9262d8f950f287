import type { Database } from "better-sqlite3";

/**
 * Numbers events in the order of their commits. No number is used twice: the done mark of a removed event would hide
 * the new event.
 */
export class EventNumbers {
  readonly #selectHighest: () => number;
  #next: number | undefined;

  constructor(db: Database) {
    const select = db
      .prepare<[], number>(
        "SELECT max(coalesce((SELECT max(seq) FROM inbox_event), 0), (SELECT value FROM counter WHERE name = 'numbered'))",
      )
      .pluck();
    this.#selectHighest = () => select.get() ?? 0;
  }

  /** A transaction begins: another process may have stored events since the last one. */
  begin(): void {
    this.#next = undefined;
  }

  /** The number of the next event to be stored; unchanged until it is taken. */
  get next(): number {
    return (this.#next ??= this.#selectHighest() + 1);
  }

  take(): void {
    this.#next = this.next + 1;
  }
}
