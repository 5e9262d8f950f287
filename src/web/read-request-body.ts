import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

export type BodyResult =
  | { kind: "read"; body: Uint8Array }
  | { kind: "too_large" }
  | { kind: "timeout" }
  /** There is no memory for it. */
  | { kind: "busy" }
  /** The sender closed the connection, so no answer is possible. */
  | { kind: "aborted" };

/** A request's body, of node:http with its headers, or of another server. */
export type BodyStream = Readable & Partial<Pick<IncomingMessage, "headers">>;

/** Reads the whole body, up to a limit of bytes and of time, as long as `take` has memory for so many bytes more. */
export function readRequestBody(
  req: BodyStream,
  {
    maxBytes,
    timeoutMs,
    take = () => true,
  }: { maxBytes: number; timeoutMs: number; take?: (bytes: number) => boolean },
): Promise<BodyResult> {
  if (Number(req.headers?.["content-length"] ?? 0) > maxBytes) return Promise.resolve({ kind: "too_large" });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (result: BodyResult): void => {
      clearTimeout(timer);
      req.removeListener("data", add);
      resolve(result);
    };
    const timer = setTimeout(() => settle({ kind: "timeout" }), timeoutMs);
    const add = (chunk: Buffer): void => {
      size += chunk.byteLength;
      if (size > maxBytes) settle({ kind: "too_large" });
      else if (!take(chunk.byteLength)) settle({ kind: "busy" });
      else chunks.push(chunk);
    };
    req.on("data", add);
    req.once("end", () => settle({ kind: "read", body: Buffer.concat(chunks) }));
    req.once("error", () => settle({ kind: "aborted" }));
    req.once("close", () => settle({ kind: "aborted" }));
  });
}
