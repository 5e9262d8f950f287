import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { NotHandedOverError, rotateSecret } from "pigeonhole";
import { type Client, createClient } from "pigeonhole/client";
import { fakeClock } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { makeEvent, openReceiver, post } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";
import { passWaits } from "../support/pass-waits.js";

const ENDPOINT = "whe_65b8f0a2c4d6e8f001234567";
const OLD = `whsec_${"o".repeat(43)}`;
const NEW = `whsec_${"n".repeat(43)}`;

/** The service: from the moment it answers a rotation, the new secret signs. */
function openService(): { client: Client; secret: () => string; rotations: () => number } {
  let secret = OLD;
  let rotations = 0;
  const baseUrl = "https://api.example.com/v1";
  const fetch = (url: string, { method }: { method?: string }): Promise<Response> => {
    if (method !== "POST" || url !== `${baseUrl}/webhooks/${ENDPOINT}/rotate-secret`) {
      return Promise.resolve(Response.json({ code: "resource_not_found" }, { status: 404 }));
    }
    rotations += 1;
    secret = NEW;
    const endpoint = { id: ENDPOINT, url: "https://app.example.com/hooks", eventTypes: ["*"], enabled: true, secret };
    return Promise.resolve(Response.json(endpoint));
  };
  const client = createClient({ apiKey: "svc_test_rotation", baseUrl, maxRetries: 0, fetch });
  return { client, secret: () => secret, rotations: () => rotations };
}

test("a rotation under load loses no delivery", async () => {
  const service = openService();
  const clock = fakeClock();
  let current = OLD;
  const seen = new Set<string>();
  const receiver = openReceiver({ secrets: () => [current], clock });
  receiver.on("email.sent", ({ id }) => void seen.add(id));
  await receiver.start();

  const statuses: number[] = [];
  /** Sends until it is answered 2xx; every try is signed with the secret of that moment. */
  async function deliver(): Promise<string> {
    const event = makeEvent();
    for (;;) {
      const { status } = await post(receiver, event, { secret: service.secret(), at: clock.now() });
      statuses.push(status);
      if (status >= 200 && status <= 299) return event.id;
      if (status !== 503) throw new Error(`${event.id} was answered ${status}, which is final.`);
      await sleep(3);
    }
  }

  const over = new AbortController();
  const deliveries: Promise<string>[] = [];
  async function send(): Promise<void> {
    while (!over.signal.aborted) {
      deliveries.push(deliver());
      // A second of the receiver for each ms here: the secrets are read again after five.
      await clock.advance(1_000);
      await sleep(1);
    }
  }
  const sending = send();

  await expect.poll(() => seen.size).toBeGreaterThan(10);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const handOver = async (secret: string): Promise<void> => {
    await sleep(20);
    current = secret;
  };
  expect(await rotateSecret({ client: service.client, endpointId: ENDPOINT, handOver })).toBe(NEW);
  const sentInTheGap = deliveries.length;
  await expect.poll(() => deliveries.length).toBeGreaterThan(sentInTheGap + 10);
  over.abort();
  await sending;

  // What still waits for the receiver to read its secrets again needs time to pass.
  const delivered = new AbortController();
  const all = Promise.all(deliveries).finally(() => delivered.abort());
  for (let turns = 0; turns < 500 && !delivered.signal.aborted; turns += 1) {
    await clock.advance(1_000);
    await sleep(1);
  }
  const ids = await all;
  await expect.poll(() => seen.size).toBe(ids.length);
  expect(seen).toEqual(new Set(ids));
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status !== 503 && status !== 200)).toEqual([]);
  expect(service.rotations()).toBe(1);
});

test("a secret that could not be passed on five times is in the rejection, which does not print it", async () => {
  const service = openService();
  let tries = 0;
  const handOver = (): Promise<void> => {
    tries += 1;
    return Promise.reject(new Error(`Try ${tries} failed.`));
  };
  const rotate = () => rotateSecret({ client: service.client, endpointId: ENDPOINT, handOver });
  const error = await errorOf(() => passWaits(rotate));
  expect(tries).toBe(5);
  expect(error).toBeInstanceOf(NotHandedOverError);
  expect((error as NotHandedOverError).secret()).toBe(NEW);
  expect(error.cause).toMatchObject({ message: "Try 5 failed." });
  const prints = [inspect(error, { depth: null, showHidden: true }), error.message, String(error.stack)];
  for (const text of [...prints, JSON.stringify(error), String(error)]) expect(text).not.toContain(NEW);
  expect(error.message).toContain(ENDPOINT);
});

test("a rotation that the service refuses passes no secret on", async () => {
  const service = openService();
  let isHandedOver = false;
  const handOver = (): void => void (isHandedOver = true);
  const endpointId = `whe_${"0".repeat(24)}`;
  const error = await errorOf(() => rotateSecret({ client: service.client, endpointId, handOver }));
  expect(error).toMatchObject({ code: "resource_not_found", status: 404 });
  expect(isHandedOver).toBe(false);
  expect(service.secret()).toBe(OLD);
});
