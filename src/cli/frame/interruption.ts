import { setMaxListeners } from "node:events";
import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { sleep } from "../../base/wait.js";
import type { HostProcess } from "./context.js";
import { EXIT } from "./command-error.js";

/** How long a command has to end after Ctrl-C. */
const GRACE_MS = 10 * SECOND;

/** Exit code of a process ended by SIGHUP. */
const HUNG_UP = 129;

/** Ctrl-C, SIGTERM and the end of the terminal as a signal. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Exit code of an interrupted process; undefined if it was not, or if that is the command's usual end. */
  exitCode(): number | undefined;
  /** For a command whose usual end is Ctrl-C or SIGTERM: its own exit code counts. */
  expect(): void;
}

/** npm passes a signal on that the terminal has sent to every program, so that it comes twice. */
const SAME_SIGNAL_MS = SECOND / 2;

/** The first signal asks the command to end, a second one later ends the process at once. */
export function watchInterruption(host: HostProcess): Interruption {
  const controller = new AbortController();
  // Each running task adds a listener, and Node warns of a leak above ten.
  setMaxListeners(0, controller.signal);
  let first: { exitCode: number; at: number } | undefined;
  let isExpected = false;
  const interrupt = (exitCode: number) => () => {
    const at = performance.now();
    if (first !== undefined) {
      // SIGHUP comes twice: from the shell and from the system.
      if (exitCode === HUNG_UP || (exitCode === first.exitCode && at - first.at < SAME_SIGNAL_MS)) return;
      host.exit(exitCode);
    }
    first = { exitCode, at };
    setTimeout(() => host.exit(exitCode), GRACE_MS).unref();
    controller.abort(new DOMException("Interrupted.", "AbortError"));
  };
  host.on("SIGINT", interrupt(EXIT.interrupted));
  host.on("SIGTERM", interrupt(143));
  // The terminal was closed: a tunnel and a registered endpoint would stay.
  host.on("SIGHUP", interrupt(HUNG_UP));
  return {
    signal: controller.signal,
    exitCode: () => (isExpected && first?.exitCode !== HUNG_UP ? undefined : first?.exitCode),
    expect: () => {
      isExpected = true;
    },
  };
}

/** Resolves when the command is asked to end. */
export function untilInterrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Waits in real time. Rejects with the reason of the signal. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(waitingClock, ms, signal);
}
