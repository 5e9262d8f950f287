import { ApiKeyLostError, rotateApiKey } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { expect, test } from "vitest";
import { errorOf } from "../support/error-of.js";
import { openSandbox } from "../sandbox/support.js";
import { makeGate } from "../support/gate.js";
import { passWaits } from "../support/pass-waits.js";

/** A key that can rotate the app's again. */
const KEEPER = { scopes: ["keys:manage", "keys:write", "labels:read"] };

function openApp(scopes: readonly string[] = ["labels:read", "keys:write"]) {
  const sandbox = openSandbox({ clock: "real" });
  const old = sandbox.callers.key({ scopes });
  const keyId = sandbox.apiKeys.find(old)?.caller.keyId ?? "";
  const clientOf = (apiKey: string) => createClient({ ...sandbox.clientOptions, apiKey });
  return { sandbox, old, keyId, clientOf, client: clientOf(old) };
}

test("the new key is handed over until it succeeds, and is the one that works", async () => {
  const { client, clientOf, old, keyId } = openApp();
  const handed: string[] = [];
  const handOver = (given: string): void => {
    handed.push(given);
    if (handed.length < 3) throw new Error("The secret manager is away.");
  };
  const token = await passWaits(() => rotateApiKey({ client, handOver }));
  expect(handed).toEqual([token, token, token]);
  expect(token).toContain(keyId);
  await clientOf(token).labels.list();
  await expect(clientOf(old).labels.list()).rejects.toMatchObject({ status: 401 });
});

test.each([
  [true, "the call took effect, so the new key is lost"],
  [false, "the call did not take effect, so it is repeated"],
])("without an answer (executed: %s), %s", async (executed) => {
  const { sandbox, client, clientOf, old } = openApp();
  sandbox.faults.api.add({ calls: "keys.rotateSelf", fault: { kind: "no_answer", executed }, times: 1 });
  const handed: string[] = [];
  const rotating = rotateApiKey({ client, handOver: (token) => void handed.push(token) });
  if (executed) {
    expect(await errorOf(() => rotating)).toBeInstanceOf(ApiKeyLostError);
    expect(handed).toEqual([]);
  } else {
    expect(handed).toEqual([await rotating]);
    await clientOf(handed[0] ?? "").labels.list();
  }
  await expect(clientOf(old).labels.list()).rejects.toMatchObject({ status: 401 });
});

test("after a 502 that hides the new key, the loss is told, and the old key is not said to work", async () => {
  const { sandbox, old } = openApp();
  let rotations = 0;
  const client = createClient({
    ...sandbox.clientOptions,
    apiKey: old,
    async fetch(url, init) {
      const answer = await sandbox.clientOptions.fetch(url, init);
      rotations += 1;
      return rotations === 1 ? new Response("Bad gateway", { status: 502 }) : answer;
    },
  });
  expect(await errorOf(() => rotateApiKey({ client, handOver: () => {} }))).toBeInstanceOf(ApiKeyLostError);
  expect(rotations).toBe(2);
});

test("after a program that ended before its hand-over, the loss is told with what replaces the key", async () => {
  const { sandbox, client, clientOf, old, keyId } = openApp();
  const handOver = (): void => undefined;
  const passed = makeGate();
  void rotateApiKey({ client, handOver: () => new Promise(() => passed.open()) });
  await passed.passed;
  const error = await errorOf(() => rotateApiKey({ client: clientOf(old), handOver }));
  expect(error).toBeInstanceOf(ApiKeyLostError);
  expect(error.message).toContain("rotateApiKey({ client, keyId, handOver })");
  const token = await rotateApiKey({ client: clientOf(sandbox.callers.key(KEEPER)), keyId, handOver });
  await clientOf(token).labels.list();
  expect(sandbox.apiKeys.find(token)?.caller.keyId).toBe(keyId);
});

test("another key is rotated by its id, again when no answer came", async () => {
  const { sandbox, clientOf, old, keyId } = openApp();
  const keeper = clientOf(sandbox.callers.key(KEEPER));
  sandbox.faults.api.add({ calls: "keys.rotate", fault: { kind: "no_answer", executed: true }, times: 2 });
  const token = await passWaits(() => rotateApiKey({ client: keeper, keyId, handOver: () => {} }));
  await clientOf(token).labels.list();
  await expect(clientOf(old).labels.list()).rejects.toMatchObject({ status: 401 });
  await keeper.labels.list();
});

test("a client's own key, named by its id, is told as lost too", async () => {
  const { sandbox, client, keyId } = openApp(["labels:read", "keys:write", "keys:manage"]);
  sandbox.faults.api.add({ calls: "keys.rotate", fault: { kind: "no_answer", executed: true }, times: 1 });
  expect(await errorOf(() => rotateApiKey({ client, keyId, handOver: () => {} }))).toBeInstanceOf(ApiKeyLostError);
});

test.each([
  [["labels:read"], undefined, "insufficient_scope"],
  [["keys:manage"], "0".repeat(24), "resource_not_found"],
])("a rotation that the service refuses changes nothing: a key with %j", async (scopes, keyId, code) => {
  const { client, clientOf, old } = openApp(scopes);
  let isHandedOver = false;
  const handOver = () => void (isHandedOver = true);
  expect(await errorOf(() => rotateApiKey({ client, keyId, handOver }))).toMatchObject({ code });
  expect(isHandedOver).toBe(false);
  await expect(
    clientOf(old)
      .labels.list()
      .catch(({ status }: { status: number }) => status),
  ).resolves.not.toBe(401);
});
