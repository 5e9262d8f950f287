import type { PreparingState } from "./api/preparing.js";
import type { LoopTime } from "./loop-share.js";

/** From the request on, an answer waits so long for its texts, but not less for them alone where the store was slow. */
const WAIT_MS = { inAll: 300, least: 100 };
/** Of the texts of one answer, as they are. With stand-ins for addresses they can be five times as long. */
const MAX_CHARACTERS = 800_000;

/** One answer to a view: how long it waits for texts that are not ready, and how many it has room for. */
export class TextGlance {
  readonly #time: LoopTime;
  readonly #begunAt: number;
  #over: Promise<unknown> | undefined;
  #left = MAX_CHARACTERS;
  #isPreparing = false;

  constructor(time: LoopTime) {
    this.#time = time;
    this.#begunAt = time.now();
  }

  /** Resolves once it has waited for long enough. */
  over(): Promise<unknown> {
    const passedMs = this.#time.now() - this.#begunAt;
    this.#over ??= this.#time.rest(Math.max(WAIT_MS.least, WAIT_MS.inAll - passedMs));
    return this.#over;
  }

  /** False where there is no room for so many characters. */
  takeRoom(characters: number): boolean {
    if (characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }

  /** A text of it is not ready. */
  noteMissing(): void {
    this.#isPreparing = true;
  }

  /** For the answer. */
  get state(): PreparingState {
    return this.#isPreparing ? { isPreparing: true } : {};
  }
}
