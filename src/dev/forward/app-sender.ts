import type { Changes } from "../../base/options.js";
import type { Clock } from "../../base/clock.js";
import { buildReplayHeaders } from "../../capture/replay/build-replay.js";
import type { Capture, CaptureAttempt, HeaderList, SignMode } from "../../capture/model/capture.js";
import { bodyBytes } from "../../capture/model/capture-request.js";
import { encodeAnswerBody } from "../../capture/model/encode-body.js";
import type { NamedSecret } from "../../capture/model/judge-signature.js";
import { overrideHeaders } from "../../capture/send/outgoing-headers.js";
import { type SendResult, sendRequest } from "../../capture/send/send-request.js";
import { targetUrl } from "../../capture/send/target.js";
import type { SignatureAssumptions } from "../../protocol/signature-assumptions.js";

export interface AppSenderOptions {
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

/** Sends captured bytes to the app. */
export interface AppSender {
  /**
   * Sends a capture. `exact`: with the header list unchanged, including host. `resign`: with a new signature if the
   * captured one was valid and a secret is known, since a held delivery would otherwise be too old for the app.
   */
  send(
    capture: Capture,
    target: string,
    how: { kind: CaptureAttempt["kind"]; mode: SignMode },
  ): Promise<{ sent: SendResult; made: Omit<CaptureAttempt, "n"> }>;
}

export function createAppSender(options: AppSenderOptions): AppSender {
  const { secrets, assumptions, timeoutMs, allowRemote, clock, signal } = options;

  function headersFor(capture: Capture, mode: SignMode, nowMs: number): { mode: SignMode; headers: HeaderList } {
    const [newest] = secrets();
    if (mode === "exact" || newest === undefined || capture.verify.code !== "ok") {
      return { mode: "exact", headers: capture.request.headers };
    }
    const content = { mode, secret: newest.value, assumptions, nowMs };
    return { mode, headers: buildReplayHeaders(capture, bodyBytes(capture), content) };
  }

  return {
    async send(capture, target, { kind, mode: wanted }) {
      const at = clock.now();
      const { mode, headers } = headersFor(capture, wanted, at);
      const url = targetUrl(target, capture.request);
      const sent = await sendRequest({
        url,
        method: capture.request.method,
        headers: overrideHeaders(headers, options.headers),
        body: bodyBytes(capture),
        keepHost: true,
        timeoutMs,
        signal,
        allowRemote,
      });
      const made: Omit<CaptureAttempt, "n"> = {
        kind,
        mode,
        target: url,
        at: new Date(at).toISOString(),
        eventId: null,
        sentHeaders: sent.sentHeaders,
        sentBody: null,
        status: sent.status,
        headers: sent.headers,
        body: encodeAnswerBody(sent.headers, sent.body),
        ms: sent.ms,
        error: sent.error,
      };
      return { sent, made };
    },
  };
}
