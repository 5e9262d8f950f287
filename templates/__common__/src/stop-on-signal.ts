import type { Server } from "node:http";
import type { Receiver } from "pigeonhole";
import type { Logger } from "pino";

interface Running {
  server: Server;
  receiver: Pick<Receiver, "stop">;
  log: Logger;
}

/** Of handlers that still run. In development a restart by tsx, which kills after 5 s, does not wait as long. */
const MAX_WAIT_MS = process.env["NODE_ENV"] === "development" ? 3_000 : 10_000;

/**
 * On SIGTERM and Ctrl-C: takes nothing new, lets handlers end, closes the inbox. What is not done runs after the next
 * start. A port that is not available ends the process with a message that says why.
 */
export function stopOnSignal({ server, receiver, log }: Running): void {
  let stoppingSince: number | undefined;

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (stoppingSince !== undefined) {
      // npm passes on what the terminal has sent to it and to us: the same Ctrl-C, twice.
      if (performance.now() - stoppingSince < 500) return;
      process.exit(1);
    }
    stoppingSince = performance.now();
    log.info({ signal }, "stopping");
    server.close();
    await receiver.stop({ timeoutMs: MAX_WAIT_MS });
    log.info("stopped");
    process.exit(0);
  }

  server.once("error", ({ code }: NodeJS.ErrnoException) => {
    const isTaken = code === "EADDRINUSE";
    log.fatal({ code }, isTaken ? "PORT is in use: stop what listens there, or set another" : "cannot listen");
    void receiver.stop().finally(() => process.exit(1));
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      stop(signal).catch((error: unknown) => {
        log.fatal({ err: error }, "stop_failed");
        process.exit(1);
      });
    });
  }
}
