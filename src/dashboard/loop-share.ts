import { setTimeout } from "node:timers/promises";
import type { Pieces } from "../capture/redact/pieces.js";
import { PageApiError } from "../web/page-api-error.js";
import { InTurn } from "./in-turn.js";

/** How long the event loop is taken at once, but for the piece that ends it, in milliseconds. */
const TURN_MS = 2;
/** A rest is so many times as long as what was done before it: all work together has a quarter of the event loop. */
const REST_TIMES = 3;
/** Works that run or wait, each with the body of an event or a few. */
const MAX_WORKS = 100;

/** How time goes by. */
export interface LoopTime {
  /** In milliseconds, from any moment on. */
  now: () => number;
  /** Lets the event loop do other things for so many milliseconds. `keepsAlive`: the process does not end meanwhile. */
  rest: (ms: number, keepsAlive?: boolean) => Promise<unknown>;
}

const REAL_TIME: LoopTime = {
  now: () => performance.now(),
  rest: (ms, keepsAlive = true) => setTimeout(Math.ceil(ms), undefined, { ref: keepsAlive }),
};

/** For whom work is done, such as the signal of a request. */
export interface Presence {
  /** True once nobody wants it any more. */
  readonly aborted: boolean;
  /** False where the process may end before the work. @default true */
  readonly keepsAlive?: boolean;
}

/**
 * The part of the event loop that long work for people may take; deliveries have the rest. Works are done one after the
 * other, for all people together.
 */
export class LoopShare {
  readonly time: LoopTime;
  readonly #turns = new InTurn(MAX_WORKS, tooMany);
  /** Since the last rest. */
  #busyMs = 0;

  constructor(time: LoopTime = REAL_TIME) {
    this.time = time;
  }

  /**
   * `begin` is called when its turn comes. Rejects with `client_gone` once it is not wanted any more, and with `busy`
   * while too many wait.
   */
  run<Value>(begin: () => Pieces<Value>, presence: Presence): Promise<Value> {
    return this.#turns.run(async () => {
      checkPresent(presence);
      const pieces = begin();
      for (;;) {
        const startedAt = this.time.now();
        const step = pieces.next();
        this.#busyMs += this.time.now() - startedAt;
        if (this.#busyMs >= TURN_MS) await this.#rest(presence);
        if (step.done === true) return step.value;
        checkPresent(presence);
      }
    });
  }

  async #rest({ keepsAlive }: Presence): Promise<void> {
    const ms = REST_TIMES * this.#busyMs;
    this.#busyMs = 0;
    await this.time.rest(ms, keepsAlive);
  }
}

/** Throws once the client of a request has gone: nobody reads the answer. */
export function checkPresent({ aborted }: Presence): void {
  if (aborted) throw new PageApiError(400, { code: "client_gone", message: "The client has disconnected." });
}

function tooMany(): PageApiError {
  const message = "Too many people look at errors and payloads at once. Load the page again in some seconds.";
  return new PageApiError(503, { code: "busy", message });
}
