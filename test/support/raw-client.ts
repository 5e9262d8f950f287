import net from "node:net";

/** What a sender sees that writes its own HTTP. */
export interface RawClient {
  write(text: string | Uint8Array): void;
  /** Stops reading, as a sender does that writes its whole body before it looks for an answer. */
  stopReading(): void;
  readOn(): void;
  /** The next answer with a content-length, or an error when the connection ends first. Skips 100 Continue. */
  answer(): Promise<RawAnswer>;
  /** Resolves when the server has closed the connection. */
  closed: Promise<void>;
  destroy(): void;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export async function connect(port: number): Promise<RawClient> {
  const socket = net.connect(port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", () => resolve(undefined)).once("error", reject));
  let text = "";
  let wake = (): void => {};
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    wake();
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      resolve();
      wake();
    });
  });
  return {
    closed,
    write: (chunk) => void socket.write(chunk),
    stopReading: () => void socket.pause(),
    readOn: () => void socket.resume(),
    destroy: () => void socket.destroy(),
    async answer() {
      for (;;) {
        const parsed = parseAnswer(text);
        if (parsed !== undefined) {
          text = text.slice(parsed.length);
          if (parsed.status !== 100) return parsed;
        } else if (socket.destroyed) {
          throw new Error(`connection closed after ${JSON.stringify(text)}`);
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  };
}

function parseAnswer(text: string): (RawAnswer & { length: number }) | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines)
    headers[line.slice(0, line.indexOf(":")).toLowerCase()] = line.slice(line.indexOf(":") + 1).trim();
  const length = end + 4 + Number(headers["content-length"] ?? 0);
  if (text.length < length) return undefined;
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4, length), length };
}

/** The head of a POST to /hooks with these header lines. */
export function head(...lines: string[]): string {
  return ["POST /hooks HTTP/1.1", "host: 127.0.0.1", ...lines, "", ""].join("\r\n");
}
