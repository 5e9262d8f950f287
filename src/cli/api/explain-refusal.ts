import { ApiError, InvalidInputError } from "../../client/errors.js";
import { API_ERROR_CODES } from "../../contract/api-error-codes.js";
import { describeScopes } from "../../contract/scopes.js";
import { SECOND } from "../../base/duration.js";
import { CommandError } from "../frame/command-error.js";
import { EXIT } from "../frame/exit-code.js";
import type { Named } from "./find-call.js";
import { seeHelp } from "./read-arguments.js";
import { CALL_NAMES } from "./spec.js";

/** The error with the meaning of its code, and what to do; any other error as it is. */
export function explainRefusal(error: unknown, named: Extract<Named, { kind: "call" }>): unknown {
  if (error instanceof InvalidInputError) {
    return new CommandError(EXIT.usage, error.code, `${error.message.replace(/[^.]$/, "$&.")} ${seeHelp(named.call)}`, {
      cause: error,
    });
  }
  if (!(error instanceof ApiError)) return error;
  const wrong = (error.fields ?? []).map((field) => `${field.key}: ${field.error}.`);
  const said = [error.message, meaningOf(error.code), ...wrong, adviceOn(error, named)];
  return new CommandError(EXIT.unreachable, error.code, said.filter((part) => part !== "").join(" "), { cause: error });
}

function meaningOf(code: string): string {
  return Object.hasOwn(API_ERROR_CODES, code) ? API_ERROR_CODES[code as keyof typeof API_ERROR_CODES].meaning : "";
}

function adviceOn({ code, status, retryAfterMs }: ApiError, { call, row }: Extract<Named, { kind: "call" }>): string {
  if (status < 300) return "It took effect; read what it did before you call again.";
  if (code === "insufficient_scope") return `Use a key with the scope ${describeScopes(row.operation.scope)}.`;
  if (code === "capability_unsupported") return "Use a key that is limited to no addresses and domains.";
  if (code === "invalid_cursor") return "Begin the list again, without a cursor.";
  if (status === 401)
    return "Check the key that --api-key or PIGEONHOLE_API_KEY gives, and that it belongs to this API.";
  if (status === 403) return "Use the key of someone who may do it.";
  if (status === 404) {
    const list = `${row.resource}.list`;
    return CALL_NAMES.includes(list) && list !== call ? `pigeonhole api ${list} shows what there is.` : "";
  }
  if (status === 429) {
    return retryAfterMs === undefined ? "Call again later." : `Call again in ${Math.ceil(retryAfterMs / SECOND)} s.`;
  }
  if (status >= 500) return "The service failed, or something in front of it. Call again later.";
  return seeHelp(call);
}
