import { type Backoff, backoffDelay } from "../../base/retry-wait.js";
import type { Clock } from "../../base/clock.js";
import { MINUTE, SECOND } from "../../base/duration.js";
import { isPigeonholeError } from "../../base/error.js";
import { sleep } from "../../base/wait.js";
import type { Report } from "../lines/dev-event.js";
import { type TunnelProcess, runTunnelProgram } from "./tunnel-process.js";
import { findTunnelProgram } from "./tunnel-programs.js";

const BACKOFF: Backoff = { initialMs: 1 * SECOND, factor: 2, maxMs: 1 * MINUTE, jitter: 0.2 };

export interface TunnelOptions {
  /** `cloudflared`, `ngrok`, `tailscale`, or a command with `{port}`. */
  tunnel: string;
  /** Port on this machine that the tunnel leads to. */
  port: number;
  /** Longest wait for the public URL, in milliseconds. */
  timeoutMs: number;
  /** Aborts the first start. */
  signal?: AbortSignal | undefined;
  clock: Clock;
  report: Report;
  /** Called with the URL when it changes after the start. A restarted program may get another one. */
  onUrl: (publicUrl: string) => void;
}

/** A tunnel that is kept running until it is closed. */
export interface Tunnel {
  /** Without a slash at its end. */
  readonly publicUrl: string;
  close(): Promise<void>;
}

/**
 * Starts an installed tunnel program and keeps it running: one that ends is started again, with backoff. Rejects with
 * `invalid_option` or `tunnel_failed` if the first start fails.
 */
export async function startTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { port, timeoutMs, clock, report } = options;
  const program = findTunnelProgram(options.tunnel, port);
  const stopping = new AbortController();
  const { signal } = stopping;

  const start = async (until = signal): Promise<TunnelProcess> => {
    report({ kind: "tunnel", state: "starting", program: program.name });
    const started = await runTunnelProgram(program, { timeoutMs, signal: until });
    report({ kind: "tunnel", state: "up", program: program.name, publicUrl: started.publicUrl });
    return started;
  };

  let current = await start(options.signal);

  async function restart(): Promise<TunnelProcess> {
    for (let failures = 1; ; failures += 1) {
      const restartMs = backoffDelay(BACKOFF, failures, Math.random);
      report({ kind: "tunnel", state: "down", program: program.name, restartMs });
      await sleep(clock, restartMs, signal);
      try {
        return await start();
      } catch (error) {
        if (!isPigeonholeError(error, "tunnel_failed")) throw error;
        report({ kind: "problem", what: error.message, fix: null });
      }
    }
  }

  async function keepUp(): Promise<void> {
    for (;;) {
      await current.ended;
      if (signal.aborted) return;
      const before = current.publicUrl;
      current = await restart();
      if (current.publicUrl !== before) options.onUrl(current.publicUrl);
    }
  }

  // Only the signal ends the loop.
  const kept = keepUp().catch(() => undefined);
  return {
    get publicUrl() {
      return current.publicUrl;
    },
    async close() {
      stopping.abort(new Error("closed"));
      await current.kill();
      await kept;
    },
  };
}
