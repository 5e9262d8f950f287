import { connect } from "node:net";

// Strangers with chunked bodies, in a process of their own so that the receiver has its loop to itself. Prints how many
// were answered what.

/** @type {import("./strangers.test.js").Strangers & { port: number }} */
const { port, connections, chunkBytes, bodyBytes, forMs, ends, isSigned } = JSON.parse(process.argv[2]);

const signature = isSigned ? "x-svc-signature: t=1,v1=aa\r\n" : "";
const HEAD = Buffer.from(`POST /hooks HTTP/1.1\r\nhost: x\r\n${signature}transfer-encoding: chunked\r\n\r\n`);
const chunk = `${chunkBytes.toString(16)}\r\n${"x".repeat(chunkBytes)}\r\n`;
const repeats = Math.max(1, Math.floor((64 * 1024) / chunk.length));
const block = Buffer.from(chunk.repeat(repeats));

const answers = {};
const sockets = Array.from({ length: connections }, () => {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.once("data", (text) => {
    const [, outcome] = /x-pigeonhole-outcome: (\w+)/i.exec(text.toString("latin1")) ?? [];
    answers[outcome] = (answers[outcome] ?? 0) + 1;
  });
  return socket;
});
await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));

for (const socket of sockets) {
  let sent = 0;
  const sendOn = () => {
    while (sent < bodyBytes && !socket.destroyed) {
      // The first chunks come together with the headers: nobody knows before that this connection will send them.
      const isFirst = sent === 0;
      sent += repeats * chunkBytes;
      if (!socket.write(isFirst ? Buffer.concat([HEAD, block]) : block)) return void socket.once("drain", sendOn);
    }
    if (ends) socket.write("0\r\n\r\n");
  };
  sendOn();
}

const everyMs = 50;
for (let waited = 0; waited < forMs; waited += everyMs) {
  await new Promise((resolve) => setTimeout(resolve, everyMs));
  // So many had no room: there is none left.
  if (answers.overloaded >= 10) break;
  if (ends && Object.values(answers).reduce((sum, count) => sum + count, 0) === connections) break;
}
console.log(JSON.stringify(answers));
process.exit();
