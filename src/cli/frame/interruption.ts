import { setMaxListeners } from "node:events";
import { SECOND } from "../../base/duration.js";
import { EXIT } from "./exit-code.js";

/** How long a command has to end after Ctrl-C. */
const GRACE_MS = 10 * SECOND;

/** Exit code of a process ended by SIGHUP. */
const HUNG_UP = 129;

/** Ctrl-C, SIGTERM and the end of the terminal as a signal. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Exit code of an interrupted process; undefined if it was not interrupted. */
  exitCode(): number | undefined;
}

/** The first signal asks the command to end, the second ends the process at once. */
export function watchInterruption(process: NodeJS.Process): Interruption {
  const controller = new AbortController();
  // Each running task adds a listener, and Node warns of a leak above ten.
  setMaxListeners(0, controller.signal);
  let code: number | undefined;
  const interrupt = (exitCode: number) => () => {
    if (code !== undefined) {
      // SIGHUP comes twice: from the shell and from the system.
      if (exitCode === HUNG_UP) return;
      process.exit(exitCode);
    }
    code = exitCode;
    setTimeout(() => process.exit(exitCode), GRACE_MS).unref();
    controller.abort(new DOMException("Interrupted.", "AbortError"));
  };
  process.on("SIGINT", interrupt(EXIT.interrupted));
  process.on("SIGTERM", interrupt(143));
  // The terminal was closed: a tunnel and a registered endpoint would stay.
  process.on("SIGHUP", interrupt(HUNG_UP));
  return { signal: controller.signal, exitCode: () => code };
}

/** Resolves when the command is asked to end. */
export function untilInterrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
