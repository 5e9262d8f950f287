import { PigeonholeError } from "../../base/error.js";
import type { Changes } from "../../base/options.js";
import type { Clock } from "../../base/clock.js";
import type { Capture, HeaderList, SignMode } from "../../capture/model/capture.js";
import { type ReplayReport, replayCaptures } from "../../capture/replay/replay-captures.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";
import type { CaptureLog } from "./capture-log.js";
import { type ForwardRule, checkNotOwnPort } from "./forward-rules.js";
import type { Report } from "../lines/dev-event.js";

/** A replay requested at the page or the terminal. */
export interface ReplayRequest {
  ids: readonly string[];
  /** @default 'resign' */
  mode?: SignMode;
  /** @default 'same-id', but 'new-id' for an edited body that has the captured id */
  identity?: "same-id" | "new-id";
  /** Body in place of the captured one. */
  body?: string;
  /** Port, host:port or URL. @default the forwards, by type */
  target?: string;
  times?: number;
}

/** How captures are sent to the app. */
export interface SendingOptions {
  secrets: () => readonly NamedSecret[];
  assumptions: Changes<SignatureAssumptions>;
  /** Longest wait for the app's complete answer, in milliseconds. */
  timeoutMs: number;
  allowRemote: boolean;
  /** Set in place of headers with the same names. */
  headers: HeaderList;
  clock: Clock;
  /** Aborts running requests when the dev server closes. */
  signal: AbortSignal;
}

export interface ReplayerOptions extends SendingOptions {
  log: CaptureLog;
  rules: readonly ForwardRule[];
  ownPorts: () => readonly number[];
  report: Report;
}

export type Replay = (request: ReplayRequest) => Promise<ReplayReport>;

/**
 * Replays captures to the app and stores the attempts with them. Rejects with `no_capture`, and with `invalid_argument`
 * for a target that is invalid, is remote, or is this dev server itself.
 */
export function createReplay(options: ReplayerOptions): Replay {
  const { log, rules, ownPorts, report } = options;

  function targetFor({ id, event }: Capture): string[] {
    const rule = rules.find(({ matches }) => matches(event.type));
    if (rule !== undefined) return [rule.target];
    throw new PigeonholeError(
      "invalid_argument",
      `No forward takes ${event.type ?? "a delivery without a type"} (${id}); name a target, or start with --forward-to.`,
    );
  }

  return async ({ ids, body, target, ...rest }) => {
    const captures = ids.map(log.get);
    if (body !== undefined && captures.length !== 1) {
      throw new PigeonholeError("invalid_argument", "An edited body is for one capture.");
    }
    if (target !== undefined) await checkNotOwnPort(target, ownPorts());
    const [newest] = options.secrets();
    return replayCaptures({
      ...rest,
      captures,
      target: target ?? targetFor,
      ...(body === undefined ? {} : { edit: { body } }),
      secret: newest?.value,
      assumptions: options.assumptions,
      timeoutMs: options.timeoutMs,
      allowRemote: options.allowRemote,
      headers: options.headers,
      signal: options.signal,
      clock: options.clock,
      onAttempt: async ({ capture, attempt }) => {
        const kept = await log.addAttempt(capture, attempt);
        report({ kind: "replayed", capture: summarizeCapture(kept.capture), attempt: kept.attempt });
      },
    });
  };
}
