/** Length in bytes and status of the first response in the text, or undefined when more bytes are needed. */
export function parseResponse(text: string): { status: number; length: number } | undefined {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd);
  const status = Number(head.slice(9, 12));
  const bodyStart = headEnd + 4;
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head);
  const bodyEnd = declared
    ? bodyStart + Number(declared[1])
    : /\r\ntransfer-encoding: *chunked/i.test(head)
      ? findChunkedEnd(text, bodyStart)
      : bodyStart;
  return bodyEnd === undefined || bodyEnd > text.length ? undefined : { status, length: bodyEnd };
}

function findChunkedEnd(text: string, start: number): number | undefined {
  let position = start;
  for (;;) {
    const lineEnd = text.indexOf("\r\n", position);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    if (!Number.isFinite(size)) throw new Error("an answer has a chunk size that is not a number");
    position = lineEnd + 2 + size + 2;
    if (size === 0) return position;
  }
}
