import type { IncomingMessage, ServerResponse } from "node:http";
import type { Api, ApiRequest } from "./create-api.js";

/** A request listener for node:http. Never throws and never rejects. */
export function createApiListener(api: Api): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    // What fails here is the connection, and there is nobody left to tell.
    answerNode(api, req, res).catch(() => req.socket.destroy());
  };
}

async function answerNode(api: Api, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request: ApiRequest = {
    method: req.method ?? "",
    url: req.url ?? "",
    headers: headersOf(req),
    body: await readUpTo(req, api.maxBodyBytes + 1),
  };
  const answer = await api.handle(request);
  if (answer === "no_answer") {
    req.socket.destroy();
    return;
  }
  const text = JSON.stringify(answer.body);
  res.writeHead(answer.status, {
    ...answer.headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    // What was not read of the body stands between this request and the next.
    ...(req.complete ? {} : { connection: "close" }),
  });
  res.end(text);
}

/** The body, or its beginning where it is longer: enough to see that it is too long. */
async function readUpTo(req: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const settle = (): void => resolve(Buffer.concat(chunks));
    req.on("data", (chunk: Buffer) => {
      // Read on and dropped: a sender whose bytes are not taken would not hear the answer.
      if (length >= maxBytes) return;
      chunks.push(chunk);
      length += chunk.byteLength;
      if (length >= maxBytes) settle();
    });
    req.once("end", settle);
    req.once("error", reject);
    req.once("close", () => reject(new Error("The request broke off.")));
  });
}

function headersOf({ headers }: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
