import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What `torture-receiver.mjs` is started with. */
export interface TortureConfig {
  /** `index.js` of the package under test. */
  entry: string;
  file: string;
  port: number;
  secret: string;
  apiUrl: string;
  /** A key that its API takes. */
  apiKey?: string | undefined;
  /** Where answers are marked. */
  log?: string | undefined;
  /** Removes what was received longer ago. */
  pruneOlderMs?: number | undefined;
  /** When its contact events occurred; the time of their recording unless given. */
  occurredAt?: string | undefined;
  /** Mistakes, to see that they are found. */
  markOutside?: boolean | undefined;
  randomKeys?: boolean | undefined;
}

export interface TortureProcess {
  readonly lines: readonly string[];
  /** Resolves when it listens; rejects with its output when it ends before. */
  readonly ready: Promise<void>;
  readonly hasEnded: boolean;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL("torture-receiver.mjs", import.meta.url));
const running = new Set<ChildProcess>();
process.on("exit", () => killAll());

/** Ends what a failed scenario left behind. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts a receiver process. `env` has the variables of the shim. */
export function startTortured(config: TortureConfig, env: Record<string, string>): TortureProcess {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", SCRIPT, JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  running.add(child);
  const lines: string[] = [];
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.on("close", () => {
      running.delete(child);
      hasEnded = true;
      resolve();
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    const onLine = (line: string): void => {
      lines.push(line);
      if (line.includes('"msg":"ready"')) resolve();
    };
    createInterface({ input: child.stdout }).on("line", onLine);
    createInterface({ input: child.stderr }).on("line", onLine);
    void ended.then(() => reject(new Error(`A receiver ended before it was ready:\n${lines.join("\n")}`)));
  });
  ready.catch(() => undefined);
  return {
    lines,
    ready,
    get hasEnded() {
      return hasEnded;
    },
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}
