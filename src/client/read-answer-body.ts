/**
 * The body of an answer as text, or undefined when it has more than `maxBytes`; in that case it is not read to its end.
 */
export async function readAnswerBody(response: Response, maxBytes: number): Promise<string | undefined> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  // Counted after decompression, so that a small answer cannot expand into a large one.
  let length = 0;
  for (;;) {
    const next = await reader.read();
    if (next.done) return text + decoder.decode();
    length += next.value.byteLength;
    if (length > maxBytes) {
      // Closes the connection. An error of that is ignored.
      reader.cancel().catch(() => {});
      return undefined;
    }
    text += decoder.decode(next.value, { stream: true });
  }
}
