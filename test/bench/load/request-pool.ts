import { randomUUID } from "node:crypto";
import { BODY_BYTES, HOOK_PATH, createBodyTemplate, createdAtOf } from "../sample-delivery.js";
import { signBody, type Scheme } from "./signing.js";

/** Requests that are ready to be written, all of one length, in one piece of memory. */
export interface RequestPool {
  readonly size: number;
  at(index: number): Buffer;
}

let memory = Buffer.alloc(0);

function formatHead(headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `POST ${HOOK_PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench\r\ncontent-type: application/json\r\n` +
    `content-length: ${BODY_BYTES}\r\n${lines.join("")}\r\n`
  );
}

/**
 * Builds and signs `size` requests, each with a random event id and a time that rises. The memory of the pool before is
 * used again.
 */
export function buildRequestPool(scheme: Scheme, size: number): RequestPool {
  const now = Date.now();
  const seconds = Math.floor(now / 1000);
  const { body, idOffset, timeOffset } = createBodyTemplate(BODY_BYTES);
  const blank = Buffer.alloc(BODY_BYTES);
  const headLength = formatHead(signBody(scheme, { id: randomUUID(), seconds, body: blank })).length;
  const length = headLength + BODY_BYTES;
  if (memory.length < length * size) memory = Buffer.allocUnsafeSlow(length * size);
  for (let index = 0; index < size; index += 1) {
    const id = randomUUID();
    body.write(id, idOffset, "latin1");
    body.write(createdAtOf(now, index), timeOffset, "latin1");
    const start = index * length;
    memory.write(formatHead(signBody(scheme, { id, seconds, body })), start, "latin1");
    body.copy(memory, start + headLength);
  }
  return { size, at: (index) => memory.subarray(index * length, (index + 1) * length) };
}
