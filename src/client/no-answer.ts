import { NoAnswerError } from "./errors.js";
import type { PrintableCause } from "./printable-cause.js";

/** The error for a call that took longer than its time-out. */
export function noAnswerInTime(call: string, timeoutMs: number): NoAnswerError {
  const message = `no answer within ${timeoutMs} ms`;
  return new NoAnswerError({ call, reason: "timeout", mayHaveArrived: true, message });
}

/** The error for a call whose key was not read within its time-out, so that it was never sent. */
export function noKeyInTime(call: string, timeoutMs: number): NoAnswerError {
  const message = `the apiKey function gave no key within ${timeoutMs} ms`;
  return new NoAnswerError({ call, reason: "timeout", mayHaveArrived: false, message });
}

/** The error for what fetch, or a read of its answer, rejected with. */
export function connectionFailed(call: string, cause: PrintableCause | undefined): NoAnswerError {
  const { code, syscall = "" } = withCode(cause) ?? withParserReason(cause) ?? {};
  // A host can also become unreachable on an open connection.
  const mayHaveArrived = code === undefined || !BEFORE_SENDING.test(code) || /^(?:read|write)/.test(syscall);
  const what = mayHaveArrived
    ? "the connection broke off before the answer was complete"
    : "no connection could be made";
  const message = code === undefined ? what : `${what} (${code})`;
  return new NoAnswerError({ call, reason: "connection", mayHaveArrived, message, cause });
}

/** Codes of Node and undici for a connection that was never made. */
const BEFORE_SENDING =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|CERT_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+)$/;

/** The parser's own words at the end of its message: one of a fixed set, never a part of the answer. */
const PARSER_REASON = /\(([^()]{1,100})\)$/;

/** fetch of Node 24 and newer gives no code for an answer that is not HTTP. The end of the error's message says it. */
function withParserReason(error: PrintableCause | undefined): { code: string; syscall?: string } | undefined {
  if (error === undefined) return undefined;
  if (error.name === "HTTPParserError") return { code: PARSER_REASON.exec(error.message)?.[1] ?? error.name };
  return withParserReason(error.cause as PrintableCause | undefined);
}

/** The first cause in the chain that has a code. fetch wraps the original error. */
function withCode(error: PrintableCause | undefined): PrintableCause | undefined {
  if (error === undefined || error.code !== undefined) return error;
  return withCode(error.cause as PrintableCause | undefined);
}
