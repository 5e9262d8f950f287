import { createServer } from "node:http";
import { createReceiver } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";

// A receiver that prints its port and makes its first repair, a minute after the given time.

/** @type {{ file: string; secret: string; apiKey: string; baseUrl: string; endpointId: string; at: number }} */
const { file, secret, apiKey, baseUrl, endpointId, at } = JSON.parse(process.argv[2] ?? "{}");

const clock = fakeClock(at);
const repair = { endpointId, every: "20m" };
const options = { store: file, secrets: secret, api: { apiKey, baseUrl }, repair, clock, role: "accept" };
const receiver = createReceiver({ ...options, telemetry: false });
const server = createServer(receiver.middleware());
await receiver.start();
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${server.address().port}\n`);
  void clock.advance(60_000);
});
