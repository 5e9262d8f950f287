/**
 * Long work in pieces: after each it yields how many characters it has read since the one before, so that its caller
 * can do something else in between, or give up.
 */
export type Pieces<Value> = Generator<number, Value, void>;

/** About a millisecond. One call that cannot be cut may be longer. */
const PIECE = 4 * 1024;

/** Counts what a piece has done so far. */
export class PieceMeter {
  #done = 0;

  /** True once the piece is full: yield {@link take}. */
  add(characters: number): boolean {
    this.#done += characters;
    return this.#done >= PIECE;
  }

  take(): number {
    const done = this.#done;
    this.#done = 0;
    return done;
  }
}

/** Does all pieces at once. */
export function finish<Value>(pieces: Pieces<Value>): Value {
  let step = pieces.next();
  while (step.done !== true) step = pieces.next();
  return step.value;
}

/** Ends with undefined instead of looking at more characters than this. */
export function* within<Value>(most: number, pieces: Pieces<Value>): Pieces<Value | undefined> {
  let done = 0;
  for (let step = pieces.next(); ; step = pieces.next()) {
    if (step.done === true) return step.value;
    done += step.value;
    if (done > most) return undefined;
    yield step.value;
  }
}
