import { waitingClock } from "../base/clock.js";
import { SECOND } from "../base/duration.js";
import { type Backoff, backoffDelay } from "../base/retry-wait.js";
import { sleep } from "../base/wait.js";

/** Short, since a secret that was rotated is known to no other program until it is handed over. */
const BETWEEN_TRIES: Backoff = { initialMs: 0.1 * SECOND, factor: 2, maxMs: 5 * SECOND, jitter: 0.1 };

/** Calls a function until it succeeds, at most `tries` times, with waits between. Rejects with its last error. */
export async function tryRepeatedly<Value>(
  work: () => Value | Promise<Value>,
  { tries, mayRepeat = () => true }: { tries: number; mayRepeat?: (error: unknown) => boolean },
): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === tries || !mayRepeat(error)) throw error;
      await sleep(waitingClock, backoffDelay(BETWEEN_TRIES, attempt, Math.random));
    }
  }
}

/** A secret or an API key that was rotated. */
interface Rotated {
  /** What it is, for messages. */
  what: string;
  secret: string;
  pass: (secret: string) => unknown;
  tries: number;
}

/** Passes on what was rotated, and returns it. Rejects with a {@link NotHandedOverError}. */
export async function handOver({ what, secret, pass, tries }: Rotated): Promise<string> {
  try {
    await tryRepeatedly(() => pass(secret), { tries });
    return secret;
  } catch (error) {
    throw new NotHandedOverError(what, secret, error);
  }
}

/** A secret or an API key was rotated and could not be handed over: it must be stored by hand. */
export class NotHandedOverError extends Error {
  override readonly name = "NotHandedOverError";
  readonly #secret: string;

  constructor(what: string, secret: string, cause: unknown) {
    super(
      `${what} was rotated and could not be handed over; the old one no longer works. Store the new one by hand from error.secret().`,
      { cause },
    );
    this.#secret = secret;
  }

  /** A method, not a field, so that no log or inspection prints it. */
  secret(): string {
    return this.#secret;
  }
}
