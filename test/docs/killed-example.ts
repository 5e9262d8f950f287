import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { join } from "node:path";
import { createClient } from "pigeonhole/client";
import { type Sandbox, type SandboxOptions, createSandbox } from "pigeonhole/sandbox";
import { expect, onTestFinished } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { readRows, readUndone } from "../support/inbox-file.js";
import { closeServer, listen } from "../support/listen.js";
import { readBytes } from "../support/read-body.js";
import { waitUntil } from "../support/wait-until.js";
import { makeExampleFolder } from "./example-folder.js";
import { runProgram } from "./run-example.js";

/**
 * Where an example is killed: when a call of the API leaves it (`before` the service gets the call), or when the
 * service has done what was asked (`after`), and the answer does not come, or of a file only the beginning.
 */
export interface Death {
  /** Method and path, with `*` for what differs between calls, as in {@link KilledExample.calls}. */
  call: string;
  when: "before" | "after";
}

/** An example that works for an emulated service, dies where it is told, and is started again each time. */
export interface KilledExample {
  sandbox: Sandbox;
  /** The service's API from outside, without the example's deaths. */
  client: ReturnType<typeof createClient>;
  /** The example's calls that reached the service. */
  calls: string[];
  /** The folder that it works in. */
  folder: string;
  /** What a query finds in its store. */
  rows: <Row>(sql: string) => Row[];
  /** Id of the process that runs now. */
  pid: () => number;
  /** The deaths to come, in order; each at the first call that fits. */
  deaths: Death[];
  /** Resolves when all work for so many events is done, and all deaths are over. */
  untilDone: (events: number) => Promise<void>;
}

export interface KilledExampleInput {
  /** Name of the program under examples/. */
  name: string;
  /** The event types that it receives. */
  eventTypes: readonly string[];
  env?: (folder: string) => Record<string, string>;
  /** Whether the beginning of a file has arrived in the folder. */
  hasBegun?: (folder: string) => boolean;
  sandbox?: SandboxOptions;
}

/** Starts the example with an endpoint that was made through the API. Everything ends with the test. */
export async function startKilledExample(input: KilledExampleInput): Promise<KilledExample> {
  const folder = makeExampleFolder();
  const store = join(folder, "inbox.db");
  // A delivery that no process answered comes again a minute later, which is a second.
  const sandbox = createSandbox({ clock: { speed: 60 }, receiverTime: "machine", ...input.sandbox });
  onTestFinished(() => sandbox.close());
  const client = createClient(sandbox.clientOptions);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}/`;
  const { secret } = await client.webhooks.create({ url, eventTypes: [...input.eventTypes] });
  const example: KilledExample = {
    sandbox,
    client,
    folder,
    calls: [],
    deaths: [],
    rows: (sql) => readRows(store, sql),
    pid: () => running.child.pid ?? 0,
    async untilDone(events) {
      const state = () => ({
        deaths: example.deaths,
        // Before its work, which may be done or still to do when an event is there.
        events: readRows(store, "SELECT id FROM inbox_event").length,
        undone: readUndone(store),
      });
      await expect.poll(state, { timeout: 60_000 }).toEqual({ deaths: [], undone: [], events });
    },
  };

  const relay = createServer((request, response) => {
    relayCall(request, response, { example, input, die }).catch(() => response.destroy());
  });
  const apiUrl = `http://127.0.0.1:${await listen(relay)}`;
  onTestFinished(() => closeServer(relay));
  const env = {
    PORT: String(port),
    DATABASE_FILE: store,
    WEBHOOK_SECRET: secret,
    PIGEONHOLE_BASE_URL: apiUrl,
    PIGEONHOLE_API_KEY: sandbox.apiKey,
  };
  const start = () => runProgram(folder, `examples/${input.name}`, { ...env, ...input.env?.(folder) });
  let running = start();
  async function restart(): Promise<void> {
    running.child.kill("SIGKILL");
    await once(running.child, "exit");
    running = start();
    // Not sooner, or the test could end before the start.
    example.deaths.shift();
  }
  let dying: Promise<void> | undefined;
  // Two calls at once are one death.
  const die = () => (dying ??= restart().finally(() => (dying = undefined)));
  const isUp = () =>
    fetch(url).then(
      ({ status }) => status === 405,
      () => false,
    );
  await expect.poll(isUp, { message: running.output() }).toBe(true);
  return example;
}

interface RelayInput {
  example: KilledExample;
  input: KilledExampleInput;
  die: () => Promise<void>;
}

async function relayCall(
  request: IncomingMessage,
  response: ServerResponse,
  { example, input, die }: RelayInput,
): Promise<void> {
  const { method = "", url = "" } = request;
  const call = `${method} ${nameOfPath(url)}`;
  const isDueAt = (when: Death["when"]) => example.deaths[0]?.call === call && example.deaths[0].when === when;
  if (isDueAt("before")) return die();
  const body = await readBytes(request);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const init = { method, headers, ...(body.byteLength === 0 ? {} : { body }) };
  const answer = await example.sandbox.fetch(`http://localhost${url}`, init);
  example.calls.push(call);
  const content = Buffer.from(await answer.arrayBuffer());
  const isFile = answer.headers.has("content-disposition");
  if (!isDueAt("after")) {
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(content);
    return;
  }
  if (isFile) {
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.write(content.subarray(0, content.byteLength / 2));
    await waitUntil("the beginning has arrived", () => input.hasBegun?.(example.folder) !== false);
  }
  return die();
}

/** The path without query, ids and addresses. */
function nameOfPath(url: string): string {
  const [path = ""] = url.split("?");
  return path
    .split("/")
    .map((part) => (/[_%@-]/.test(part) ? "*" : part))
    .join("/");
}
