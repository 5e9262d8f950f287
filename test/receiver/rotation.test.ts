import { inspect } from "node:util";
import { NotHandedOverError, rotateApiKey, rotateSecret } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { expect, test } from "vitest";
import { openSandbox } from "../sandbox/support.js";
import { errorOf } from "../support/error-of.js";
import { passWaits } from "../support/pass-waits.js";
import { startReceiver } from "../support/start-receiver.js";

/** The service, and a receiver that reads the secret of its endpoint where the app has it. */
async function openApp() {
  const sandbox = openSandbox({ receiverTime: "sandbox", receive: (request) => receiver.fetch(request) });
  const { id: endpointId, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
  const app = { secret };
  const seen: string[] = [];
  const receiver = await startReceiver(
    { secrets: () => app.secret, clock: sandbox.clock },
    { "email.bounced": ({ id }) => seen.push(id) },
  );
  return { sandbox, endpointId, app, seen, client: createClient(sandbox.clientOptions) };
}

test("a rotation under load loses no delivery", async () => {
  const { sandbox, endpointId, app, seen } = await openApp();
  let calls = 0;
  const { fetch, ...clientOptions } = sandbox.clientOptions;
  const client = createClient({ ...clientOptions, fetch: (...given) => ((calls += 1), fetch(...given)) });
  const sent: string[] = [];
  const load = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      sent.push(sandbox.emit("email.bounced").event.id);
      await sandbox.advance("1s");
    }
  };
  const answers = () => new Set(sandbox.deliveries().map(({ responseCode }) => responseCode));
  await load(5);
  expect(answers()).toEqual(new Set([200]));
  const handOver = async (secret: string): Promise<void> => {
    await load(10);
    app.secret = secret;
  };
  expect(await rotateSecret({ client, endpointId, handOver })).toBe(app.secret);
  expect(calls).toBe(1);
  await load(5);
  await sandbox.advance("2m");
  await expect.poll(() => seen.toSorted()).toEqual(sent.toSorted());
  expect(answers()).toEqual(new Set([200, 503]));
});

type App = Awaited<ReturnType<typeof openApp>>;
type HandOver = (secret: string) => void | Promise<void>;

const rotations: [
  what: string,
  rotate: (app: Pick<App, "client" | "endpointId">, handOver: HandOver) => Promise<string>,
  /** Id of the endpoint, or of the key that this token is of now. */
  idOf: (app: App, secret: string) => string | undefined,
][] = [
  [
    "a secret",
    ({ client, endpointId }, handOver) => rotateSecret({ client, endpointId, handOver }),
    ({ endpointId }) => endpointId,
  ],
  [
    "an API key",
    ({ client }, handOver) => rotateApiKey({ client, handOver }),
    ({ sandbox }, token) => sandbox.apiKeys.find(token)?.caller.keyId,
  ],
];

test.each(rotations)(
  "%s that could not be handed over five times is in the rejection, which names whose it is and does not print it",
  async (_, rotate, idOf) => {
    const app = await openApp();
    const handed: string[] = [];
    const handOver = (secret: string): Promise<void> => {
      handed.push(secret);
      return Promise.reject(new Error(`Try ${handed.length} failed.`));
    };
    const error = await errorOf(() => passWaits(() => rotate(app, handOver)));
    expect(error).toBeInstanceOf(NotHandedOverError);
    const secret = (error as NotHandedOverError).secret();
    expect(handed).toEqual(Array.from({ length: 5 }, () => secret));
    expect(error.message).toContain(idOf(app, secret) ?? expect.unreachable());
    expect(error.cause).toMatchObject({ message: "Try 5 failed." });
    const prints = [inspect(error, { depth: null, showHidden: true }), error.message, String(error.stack)];
    for (const text of [...prints, JSON.stringify(error), String(error)]) expect(text).not.toContain(secret);
  },
);

test("a rotation that the service refuses passes no secret on", async () => {
  const { client } = await openApp();
  const endpointId = `whe_${"0".repeat(24)}`;
  const error = await errorOf(() => rotateSecret({ client, endpointId, handOver: () => expect.unreachable() }));
  expect(error).toMatchObject({ code: "resource_not_found", status: 404 });
});

test.each(rotations)("a rotation of %s refuses options that cannot be right before any call", async (_, rotate) => {
  const fetch = () => expect.unreachable("Options are checked before any call.");
  const client = createClient({ apiKey: "svc_test_rotation", baseUrl: "https://api.example.com/v1", fetch });
  const app = { client, endpointId: "whe_" };
  for (const handOver of [undefined, null, "a text"]) {
    const error = await errorOf(() => rotate(app, handOver as never));
    expect(error).toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining("handOver must be a function"),
    });
  }
  const error = await errorOf(() => rotate({ ...app, client: undefined as never }, () => undefined));
  expect(error).toMatchObject({ code: "invalid_option", message: expect.stringContaining("client must be an object") });
});
