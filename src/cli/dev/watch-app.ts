import { waitingClock } from "../../base/clock.js";
import { SECOND } from "../../base/duration.js";
import { sleep } from "../../base/wait.js";
import { isTaken, portOf } from "../app/is-taken.js";

/** A restart after a change is shorter. */
const AWAY_AFTER_MS = 6 * SECOND;
const LOOK_EVERY_MS = SECOND;

/**
 * Tells when an app that has answered no longer listens, and when it does again, until the signal is aborted: behind a
 * program that restarts it, such as `node --watch`, it can end without an end of that program.
 */
export async function watchApp(
  app: URL,
  { signal, changed }: { signal: AbortSignal; changed: (listens: boolean) => void },
): Promise<void> {
  let seenAt = Date.now();
  let wasThere = true;
  for (;;) {
    await sleep(waitingClock, LOOK_EVERY_MS, signal);
    const isThere = await isTaken({ hostname: app.hostname, port: portOf(app) });
    if (signal.aborted) return;
    if (isThere) seenAt = Date.now();
    else if (Date.now() - seenAt < AWAY_AFTER_MS) continue;
    if (isThere !== wasThere) changed(isThere);
    wasThere = isThere;
  }
}
