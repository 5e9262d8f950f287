import type { CapturedBody } from "../../capture/model/capture.js";
import { decodeBody } from "../../capture/model/captured-body.js";

/** The body as text. Invalid UTF-8 is shown as replacement characters. */
export function bodyAsText(body: CapturedBody): string {
  return body.encoding === "utf8" ? body.data : new TextDecoder().decode(decodeBody(body));
}

/** Lines of offset, 16 bytes and their ASCII characters. */
export function bytesAsHex(bytes: Uint8Array, limit: number): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, limit); at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0"));
    const columns = `${hex.slice(0, 8).join(" ").padEnd(23)}  ${hex.slice(8).join(" ").padEnd(23)}`;
    const signs = part.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCodePoint(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${columns}  ${signs}`);
  }
  if (bytes.length > limit) lines.push(`… ${bytes.length - limit} more bytes`);
  return lines.join("\n");
}
