import { inspect } from "node:util";
import { createReceiver, rotateApiKey } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { errorOf } from "../support/error-of.js";
import { openSandbox } from "../sandbox/support.js";

/** An app whose key is kept in one place, which its clients read. */
function openApp() {
  const sandbox = openSandbox({ clock: "real" });
  let stored = sandbox.callers.key({ scopes: ["labels:read", "files:write", "contacts:write", "keys:write"] });
  let reads = 0;
  const readKey = (): Promise<string> => {
    reads += 1;
    return Promise.resolve(stored);
  };
  const api = { ...sandbox.clientOptions, apiKey: readKey };
  const rotator = createClient({ ...sandbox.clientOptions, apiKey: stored });
  return {
    sandbox,
    api,
    rotate: () => rotateApiKey({ client: rotator, handOver: (token) => void (stored = token) }),
    store: (token: string) => void (stored = token),
    reads: () => reads,
  };
}

function createAbort(reason: Error) {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(reason) };
}

describe("an API key that a function reads", () => {
  test("the key is read at the first call, once for calls at the same time, and not again while it works", async () => {
    const { api, reads } = openApp();
    const client = createClient(api);
    expect(reads()).toBe(0);
    await Promise.all([client.labels.list(), client.labels.list()]);
    await client.labels.list();
    expect(reads()).toBe(1);
  });

  test("a rotation has no gap: calls go on with the new key, those that are never repeated too", async () => {
    const { api, rotate, reads } = openApp();
    const client = createClient({ ...api, maxRetries: 0 });
    await client.labels.list();
    await rotate();
    const made = await Promise.all([
      client.labels.list(),
      client.contacts.create({ email: "a@x.example" }),
      client.contacts.create({ email: "b@x.example" }),
    ]);
    expect(made.slice(1)).toMatchObject([{ email: "a@x.example" }, { email: "b@x.example" }]);
    expect(reads()).toBe(2);
  });

  test("an upload that is refused is not sent again, and the next one has the new key", async () => {
    const { api, rotate } = openApp();
    const client = createClient(api);
    await client.labels.list();
    await rotate();
    const upload = () => client.files.upload(Buffer.from("x"), { filename: "a.txt" });
    expect(await errorOf(upload)).toMatchObject({ status: 401 });
    expect(await upload()).toMatchObject({ filename: "a.txt" });
  });

  test("a key that stays refused is read again at most once a second, and no call waits for it", async () => {
    const { api, store, reads } = openApp();
    store("svc_live_wrong");
    let nowMs = 0;
    const clock = { now: () => nowMs, setTimer: () => ({ cancel() {} }) };
    const client = createClient({ ...api, clock });
    for (let call = 0; call < 5; call += 1) {
      expect(await errorOf(() => client.labels.list())).toMatchObject({ status: 401 });
    }
    expect(reads()).toBe(2);
    nowMs += 1_000;
    expect(await errorOf(() => client.labels.list())).toMatchObject({ status: 401 });
    expect(reads()).toBe(3);
  });

  test.each([
    ["that fails", () => Promise.reject(new Error("It is away.")), { message: "It is away." }],
    ["that gives nothing", () => "", { code: "invalid_option" }],
    ["that gives no text", () => undefined as never, { code: "invalid_option" }],
  ])("a function %s fails the call, and the next call reads again", async (_, broken, expected) => {
    const { api } = openApp();
    let isBroken = true;
    const client = createClient({ ...api, apiKey: () => (isBroken ? broken() : api.apiKey()) });
    expect(await errorOf(() => client.labels.list())).toMatchObject(expected);
    isBroken = false;
    await client.labels.list();
  });

  test("a call that is aborted does not wait for the function, neither for the first key nor for another one", async () => {
    const { sandbox, api } = openApp();
    const reason = new Error("The caller has left.");
    let { signal, abort } = createAbort(reason);
    let isStuck = true;
    const stuck = (): Promise<string> => {
      setImmediate(abort);
      return new Promise(() => {});
    };
    const apiKey = () => (isStuck ? stuck() : api.apiKey());
    expect(await errorOf(() => createClient({ ...api, apiKey }).labels.list({}, { signal }))).toBe(reason);

    isStuck = false;
    const other = createClient({ ...api, apiKey });
    await other.labels.list();
    isStuck = true;
    ({ signal, abort } = createAbort(reason));
    sandbox.faults.api.add({ fault: { kind: "error", status: 401 }, times: 1 });
    expect(await errorOf(() => other.labels.list({}, { signal }))).toBe(reason);
  });

  test("a function that hangs fails the call after its time-out, and the next call reads again", async () => {
    const { api } = openApp();
    const clock = fakeClock();
    let giveLate: (key: string) => void = () => {};
    const late = new Promise<string>((resolve) => (giveLate = resolve));
    let isStuck = true;
    const hang = () => {
      void clock.advance(50);
      return late;
    };
    const client = createClient({
      ...api,
      clock,
      apiKey: () => (isStuck ? hang() : api.apiKey()),
      timeoutMs: 50,
      maxRetries: 0,
    });
    const error = await errorOf(() => client.labels.list());
    expect(error).toMatchObject({ name: "NoAnswerError", reason: "timeout", mayHaveArrived: false });
    isStuck = false;
    await client.labels.list();
    // The read that was given up must not replace the newer key.
    giveLate("svc_live_stale");
    await late;
    await client.labels.list();
  });

  test.each([
    ["hangs later does not hold up a call that is refused", () => new Promise<string>(() => {})],
    ["fails later leaves the key that was read", () => Promise.reject(new Error("Away."))],
  ])("a function that %s", async (_, broken) => {
    const { sandbox, api } = openApp();
    const clock = fakeClock();
    let isBroken = false;
    const breakDown = () => {
      void clock.advance(200);
      return broken();
    };
    const apiKey = () => (isBroken ? breakDown() : api.apiKey());
    const client = createClient({ ...api, clock, apiKey, timeoutMs: 200 });
    await client.labels.list();
    isBroken = true;
    sandbox.faults.api.add({ fault: { kind: "error", status: 401 }, times: 1 });
    expect(await errorOf(() => client.labels.list())).toMatchObject({ status: 401 });
    await client.labels.list();
  });

  test("an error that quotes the key before or the present one does not show it", async () => {
    const { api, rotate } = openApp();
    const old = await api.apiKey();
    let present = "";
    const client = createClient({
      ...api,
      fetch: async (url, init) => {
        const answer = await api.fetch(url, init);
        if (answer.status === 401 || present === "") return answer;
        return Response.json({ code: "revoked", message: `${old} and ${present}` }, { status: 409 });
      },
    });
    await client.labels.list();
    present = await rotate();
    const error = await errorOf(() => client.labels.list());
    expect(error.message).toContain("[api key] and [api key]");
    for (const token of [old, present]) expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(token);
  });

  test("contact events that are recorded while the key is rotated are sent", async () => {
    const { sandbox, api, rotate } = openApp();
    const receiver = createReceiver({
      secrets: `whsec_${"s".repeat(43)}`,
      store: ":memory:",
      api: { ...api, eventsPerMinute: 6_000 },
    });
    onTestFinished(() => receiver.stop());
    await receiver.start();
    const event = { email: "ada@customer.example.com", createContact: true };
    await receiver.contactEvents.record({ ...event, name: "before" }, { key: "1" });
    await sandbox.waitForContactEvent({ name: "before" });
    await rotate();
    await receiver.contactEvents.record({ ...event, name: "after" }, { key: "2" });
    await sandbox.waitForContactEvent({ name: "after" });
    expect(sandbox.contactEvents).toHaveLength(2);
  });
});
