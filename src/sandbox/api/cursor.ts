import { createHmac } from "node:crypto";
import { SandboxApiError } from "./api-handlers.js";

/** The position of a row in its list, compared part by part. */
export type Position = readonly (number | string)[];

/**
 * Not a secret: it only makes an invalid cursor fail, or one of another list. It is the same in every run, like
 * everything in a sandbox.
 */
const KEY = "pigeonhole sandbox cursor";

/** A position as an opaque text that only the same list accepts. `list` names it, its owner and its filters. */
export function encodeCursor(list: string, position: Position): string {
  const payload = Buffer.from(JSON.stringify(position)).toString("base64url");
  return `${payload}.${macOf(list, payload)}`;
}

/**
 * The position of a cursor; throws 400 `invalid_cursor` for one that is not from this list. `param`: the field of the
 * query that it came in.
 */
export function decodeCursor(list: string, cursor: string, param?: string): Position {
  if (!isCursorOf(list, cursor)) throw invalidCursor(param);
  const [payload = ""] = cursor.split(".");
  return JSON.parse(Buffer.from(payload, "base64url").toString()) as Position;
}

/** True for a cursor of this list. */
export function isCursorOf(list: string, cursor: string): boolean {
  const [payload = "", mac, ...rest] = cursor.split(".");
  return rest.length === 0 && mac === macOf(list, payload);
}

/** The refusal of a cursor. See docs/service.md#paging. */
export function invalidCursor(param = "cursor"): SandboxApiError {
  return new SandboxApiError({ code: "invalid_cursor", param });
}

function macOf(list: string, payload: string): string {
  return createHmac("sha256", KEY).update(`${list}\n${payload}`).digest("base64url").slice(0, 22);
}
