import { createServer } from "node:http";
import { serveCalls } from "./child-calls.js";
import { readText } from "../../support/read-body.js";

/**
 * What an event is answered with; the API takes everything and remembers nothing, so that it is not what is measured.
 */
interface TakenEvent {
  name: string;
  email: string;
  occurredAt: string;
}

let requests = 0;
let events = 0;

function resultOf({ name, email, occurredAt }: TakenEvent): object {
  events += 1;
  return {
    object: "contact_event",
    id: `cev_${events}`,
    contactId: "ctc_1",
    email,
    name,
    properties: {},
    occurredAt,
    createdAt: occurredAt,
    mode: "test",
    replayed: false,
    enrolled: [],
    resumed: 0,
  };
}

function answerTo(path: string | undefined, body: string): object {
  if (path === "/events") return resultOf(JSON.parse(body) as TakenEvent);
  const batch = JSON.parse(body) as { events: TakenEvent[] };
  const accepted = batch.events.map((event, index) => ({ ...resultOf(event), index }));
  return { object: "contact_event_batch", accepted, failed: [] };
}

const server = createServer((request, response) => {
  requests += 1;
  void readText(request).then((body) => {
    const text = JSON.stringify(answerTo(request.url, body));
    response.writeHead(200, { "content-type": "application/json" }).end(text);
  });
});

const calls = {
  async listen(): Promise<{ baseUrl: string }> {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the API listens on no port");
    return { baseUrl: `http://127.0.0.1:${address.port}` };
  },
  /** Requests and events since the last call. */
  takeCounts(): Promise<{ requests: number; events: number }> {
    const counts = { requests, events };
    requests = 0;
    events = 0;
    return Promise.resolve(counts);
  },
};

export type ApiCalls = typeof calls;

serveCalls(calls);
