import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { readRequestBody } from "#pigeonhole/web/read-request-body.js";
import { listen } from "#pigeonhole/dev/listen.js";

/** Sends the beginning of a request and nothing more; resolves with what came back once the server closed. */
async function sendBeginning(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (answer += piece));
  socket.write(text);
  await once(socket, "close");
  return answer;
}

describe("a request that comes too slowly", () => {
  test("a request whose headers come too slowly is ended", async () => {
    const server = await listen(() => undefined, { port: 0, host: "127.0.0.1", option: "port", headersTimeoutMs: 50 });
    onTestFinished(() => server.close(0));
    expect(await sendBeginning(server.port, "POST / HTTP/1.1\r\nHost: a\r\n")).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("a request whose body does not come in time is abandoned", async () => {
    const server = await listen(
      (req, res) => {
        void readRequestBody(req, { maxBytes: 100, timeoutMs: 50 }).then(({ kind }) => {
          res.writeHead(200, { connection: "close" }).end(kind);
          req.destroy();
        });
      },
      { port: 0, host: "127.0.0.1", option: "port" },
    );
    onTestFinished(() => server.close(0));
    const text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf";
    expect(await sendBeginning(server.port, text)).toMatch(/^timeout\r?$/m);
  });
});
