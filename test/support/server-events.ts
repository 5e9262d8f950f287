/** A server-sent event; a comment has the event `comment`. */
export interface ServerEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Reads a stream of server-sent events as a browser does, until it ends or the reader stops. */
export async function* readServerEvents({ body }: Response): AsyncGenerator<ServerEvent> {
  let text = "";
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${text}${chunk}`.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (block.startsWith(":")) yield { id: "", event: "comment", data: {} };
      const data = field("data");
      if (data === "") continue;
      yield { id: field("id"), event: field("event"), data: JSON.parse(data) as ServerEvent["data"] };
    }
  }
}
