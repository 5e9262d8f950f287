import { fileURLToPath } from "node:url";
import { startReceiver } from "../../support/receiver-process.js";

export const SECRET = "whsec_Yp3lT0wJ9vQe6RkXa8sZc2uNf5hGmB1d";

/** What `torture-receiver.mjs` is started with. */
export interface TortureConfig {
  /** `index.js` of the package under test. */
  entry: string;
  file: string;
  port: number;
  secret: string;
  apiUrl: string;
  /** Where answers are marked. */
  log?: string | undefined;
  /** Removes what was received longer ago. */
  pruneOlderMs?: number | undefined;
  /** Mistakes, to see that they are found. */
  markOutside?: boolean | undefined;
  randomKeys?: boolean | undefined;
}

export interface TortureProcess {
  /** Resolves when it listens; rejects with its output when it ends before. */
  readonly ready: Promise<void>;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL("torture-receiver.mjs", import.meta.url));

/** Starts a receiver process, which ends with the test. `env` has the variables of the shim. */
export function startTortured(config: TortureConfig, env: Record<string, string>): TortureProcess {
  const started = startReceiver(config, env, SCRIPT);
  const ready = started.line("ready").then((line) => {
    if (line === undefined) throw new Error(`A receiver ended before it was ready:\n${JSON.stringify(started.lines)}`);
  });
  ready.catch(() => undefined);
  return {
    ready,
    async end(signal) {
      started.signal(signal);
      await started.ended;
    },
  };
}
