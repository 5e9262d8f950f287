import type { IncomingMessage, ServerResponse } from "node:http";
import type { Api, ApiRequest } from "./create-api.js";
import { encodeAnswer } from "./encode-answer.js";

/** A request listener for node:http. Never throws and never rejects. */
export function createApiListener(api: Api): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    // Only the connection can fail here, so no answer is possible.
    answerNode(api, req, res).catch(() => req.socket.destroy());
  };
}

async function answerNode(api: Api, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request: ApiRequest = {
    method: req.method ?? "",
    url: req.url ?? "",
    headers: headersOf(req),
    ip: req.socket.remoteAddress,
    body: await readUpTo(req, api.bodyLimit(req.method ?? "", req.url ?? "") + 1),
  };
  const answer = await api.handle(request);
  if (answer === "no_answer") {
    req.socket.destroy();
    return;
  }
  const { headers, content } = encodeAnswer(answer);
  res.writeHead(answer.status, {
    ...headers,
    // The unread rest of the body would be parsed as the next request.
    ...(req.complete ? {} : { connection: "close" }),
  });
  res.end(content);
}

/** The body, or its beginning if it is too long: enough to detect that. */
export async function readUpTo(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const settle = (): void => resolve(Buffer.concat(chunks));
    req.on("data", (chunk: Buffer) => {
      // Read and dropped: a sender whose bytes are not read would not receive the answer.
      if (length >= maxBytes) return;
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length >= maxBytes) settle();
    });
    req.once("end", settle);
    req.once("error", reject);
    req.once("close", () => reject(new Error("The request was cut off.")));
  });
}

function headersOf({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
