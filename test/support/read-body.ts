/** All bytes of a request, an answer or a socket, to the end. */
export async function readBytes(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Uint8Array));
  return Buffer.concat(chunks);
}

/** The same as text. */
export async function readText(stream: AsyncIterable<unknown>): Promise<string> {
  return (await readBytes(stream)).toString("utf8");
}
