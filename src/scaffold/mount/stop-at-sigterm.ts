import { findFunction } from "./find-listen.js";
import { maskCode } from "./mask-code.js";
import { escapeName, type FileStyle } from "./read-express-app.js";
import { RECEIVER_NAME } from "./receiver-file.js";

const CALL = /(?<![\w$.])process\.(?:on|once)\(\s*(["'])SIGTERM\1\s*,\s*/;

/**
 * The text with a handler of SIGTERM that stops the receiver first, if the handler is a function with a body that
 * stands in the call or has a name of this file; otherwise the text as it is.
 */
export function stopAtSigterm(text: string, { semicolon, lineEnd }: FileStyle): string {
  const code = maskCode(text) ?? "";
  const call = CALL.exec(text);
  if (call === null || !code.startsWith("process", call.index)) return text;
  const from = call.index + call[0].length;
  const name = escapeName(/^[\w$]+(?=\s*\))/.exec(code.slice(from))?.[0] ?? "");
  const named = String.raw`(?:async\s+)?function\s+${name}\b|\b(?:const|let)\s+${name}\s*=`;
  const start = name === "" ? from : code.search(new RegExp(named));
  const body = code.indexOf("{", start) + 1;
  const found = start === -1 || body === 0 ? undefined : findFunction(code.slice(start, body - 1).trim());
  const isAsync = found?.[1] !== undefined;
  // A function with a type would need another one to be async.
  if (found === undefined || (name === "" && found.index > 0) || (!isAsync && /\)\s*:/.test(found[0]))) return text;
  const at = start + found.index;
  const indent = /^[^\n]*\n([ \t]+)\S/.exec(code.slice(body))?.[1] ?? "  ";
  const head = `${isAsync ? "" : "async "}${text.slice(at, body)}${lineEnd}`;
  return `${text.slice(0, at)}${head}${indent}await ${RECEIVER_NAME}.stop()${semicolon}${text.slice(body)}`;
}
