import type { IncomingMessage } from "node:http";

/** Collects the body in the cheapest way; no limit, no errors. */
export function readBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const [first] = chunks;
    done(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
  });
}
