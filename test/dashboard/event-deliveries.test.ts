import type { Receiver, ReceiverOptions } from "pigeonhole";
import { setImmediate } from "node:timers/promises";
import { type Sandbox, createSandbox } from "pigeonhole/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EventDeliveries } from "#pigeonhole/web/api/event.js";
import { type TimelineEntry, mergeTimelines } from "#pigeonhole/operator/event-timeline.js";
import { openReceiver, post } from "../support/receiver.js";
import { openDashboard } from "./dashboard-client.js";
import { eventDeliveries } from "#pigeonhole/dashboard/event-deliveries.js";
// The first call of the API loads it, which is no time of a test.
import "#pigeonhole/client/create-client.js";

const NARROW = "svc_live_of_another_key_0000000000000000";

/** The service with its delivery log, and a receiver that may ask it. */
async function start({ hasApi = true, editAnswer, ...changes }: StartOptions = {}) {
  const sandbox = createSandbox({ clock: "manual", receive: (request) => receiver.fetch(request) });
  onTestFinished(() => sandbox.close());
  const { id, secret } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
  const calls: string[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const ask: typeof sandbox.fetch = async (url, init) => {
    calls.push(typeof url === "string" ? url : "");
    mostAtOnce = Math.max(mostAtOnce, ++running);
    try {
      const answer = await sandbox.fetch(url, init);
      return editAnswer === undefined ? answer : new Response(editAnswer(await answer.text()), answer);
    } finally {
      running -= 1;
    }
  };
  const receiver: Receiver = openReceiver({
    secrets: secret,
    clock: sandbox.clock,
    ...(hasApi && { api: { ...sandbox.clientOptions, maxRetries: 0, fetch: ask, ...changes } }),
  });
  receiver.on("email.bounced", () => undefined);
  await receiver.start();
  const dashboard = openDashboard(receiver, { allow: () => ({ role: "read", name: "bob" }) });
  return {
    sandbox,
    receiver,
    dashboard,
    calls,
    endpointId: id,
    secret,
    atOnce: () => mostAtOnce,
    read: async (eventId: string) =>
      (await dashboard.get<EventDeliveries>(`api/events/${encodeURIComponent(eventId)}/deliveries`)).body,
  };
}

type ApiOptions = Extract<ReceiverOptions["api"], { apiKey: unknown }>;
interface StartOptions extends Partial<ApiOptions> {
  hasApi?: boolean;
  editAnswer?: (text: string) => string;
}

/** Two events that are answered 503, then stored with their answers lost, then delivered again as duplicates. */
async function deliverThreeTimes(sandbox: Sandbox): Promise<[string, string]> {
  sandbox.faults.deliveries.add({ fault: { kind: "status", status: 503 }, times: 2 });
  sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, times: 2 });
  const [first, second] = [sandbox.emit("email.bounced").event, sandbox.emit("email.bounced").event];
  await sandbox.advance("8m");
  return [first.id, second.id];
}

/** An event that is stored with its first attempt. */
async function emit(sandbox: Sandbox): Promise<string> {
  const { id } = sandbox.emit("email.bounced").event;
  await sandbox.settle();
  return id;
}

const refuse =
  (status: number) =>
  ({ faults }: Sandbox): void =>
    void faults.api.add({ fault: { kind: "error", status } });

describe("the service's attempts", () => {
  test("an event has those before it was stored and after it, around what the receiver knows", async () => {
    const { sandbox, dashboard, read } = await start();
    const [id] = await deliverThreeTimes(sandbox);
    const { attempts, note } = await read(id);
    expect(note).toBeNull();
    expect(attempts.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      expect.stringMatching(/^attempt_failed: Attempt 1 of the service was answered 503 after \d+ ms\.$/),
      expect.stringMatching(/^attempt_failed: Attempt 2 of the service had no answer after \d+ ms\.$/),
      expect.stringMatching(/^attempt_delivered: Attempt 3 of the service was answered 200 after \d+ ms\.$/),
    ]);
    const { body } = await dashboard.get<{ timeline: TimelineEntry[] }>(`api/events/${id}`);
    const kinds = mergeTimelines(attempts, body.timeline).map(({ kind }) => kind);
    expect(kinds.join(" ")).toBe("attempt_failed attempt_failed signed received done attempt_delivered");
    expect(body.timeline.map(({ kind }) => kind)).toEqual(["signed", "received", "done"]);
  });

  test("they are read once for all who look within some seconds, with few requests one after the other", async () => {
    const { sandbox, calls, atOnce, read } = await start();
    const [first, second] = [await emit(sandbox), await emit(sandbox)];
    expect(calls).toEqual([]);
    await Promise.all([read(first), read(second), read(first)]);
    await read(first);
    expect(calls).toHaveLength(4);
    expect(calls[0]).toContain("/webhooks/deliveries?");
    expect(atOnce()).toBe(1);
    await sandbox.advance("20s");
    await read(first);
    expect(calls).toHaveLength(6);
  });

  test("so many readings wait, and the next one says that they do", async () => {
    const { sandbox, read } = await start();
    const ids = await Promise.all(Array.from({ length: 7 }, () => emit(sandbox)));
    const notes = (await Promise.all(ids.map((id) => read(id)))).map(({ note }) => note);
    expect(notes).toEqual([null, null, null, null, null, ...Array(2).fill(expect.stringContaining("too many people"))]);
    expect((await read(ids.at(-1) ?? "")).note).toBeNull();
  });

  test.each([
    [300, 74, 4, null],
    [304, 75, 0, expect.stringContaining("has more rows of that time than are read here")],
  ])("a log of %i rows of that time says whether it has more than are read", async (_, others, found, expected) => {
    const { sandbox, read } = await start();
    sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, times: 1 });
    // The receiver gets none of the others, which would take long, and no endpoint so many that it is disabled.
    sandbox.faults.deliveries.add({ fault: { kind: "status", status: 503 } });
    for (let index = 0; index < 3; index += 1) sandbox.endpoints.create({ url: `http://127.0.0.1/${index}` });
    const id = await emit(sandbox);
    for (let index = 0; index < others; index += 1) sandbox.emit("email.bounced");
    await sandbox.settle();
    const { attempts, note } = await read(id);
    expect(attempts).toHaveLength(found);
    expect(note).toEqual(expected);
  });

  test("the service's words are hidden with payloads, as the messages of errors are", async () => {
    const { sandbox, receiver } = await start();
    sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, times: 1 });
    const id = await emit(sandbox);
    const dashboard = openDashboard(receiver, { allow: () => ({ role: "read", name: "bob" }), payloads: "hidden" });
    const { body } = await dashboard.get<EventDeliveries>(`api/events/${id}/deliveries`);
    expect(body.attempts).toMatchObject([{ kind: "attempt_failed", detail: "[hidden]" }]);
  });

  test("rows of several endpoints name theirs", async () => {
    const { sandbox, endpointId, read } = await start();
    const other = sandbox.endpoints.create({ url: "http://127.0.0.1/other" });
    const id = await emit(sandbox);
    const texts = (await read(id)).attempts.map(({ text }) => text);
    expect(texts).toHaveLength(2);
    for (const to of [endpointId, other.id])
      expect(texts.filter((text) => text.endsWith(` at ${to}.`))).toHaveLength(1);
  });
});

describe("attempts that are not known", () => {
  const LEAD = "Earlier and later attempts of the service are not known: ";

  test("without an API the line says so, and asks nothing", async () => {
    const { sandbox, calls, read } = await start({ hasApi: false });
    const id = await emit(sandbox);
    expect(await read(id)).toEqual({ attempts: [], note: `${LEAD}the receiver has no option api with which to ask.` });
    expect(calls).toEqual([]);
  });

  test.each<[string, (sandbox: Sandbox) => unknown, string]>([
    [
      "the key lacks the scope",
      ({ apiKeys }) => apiKeys.add({ token: NARROW, scopes: ["contacts:write"] }),
      "the API key of the receiver lacks the scope webhooks:read.",
    ],
    ["the key is refused", () => undefined, "the API refused the key of the receiver (HTTP 401)."],
    [
      "there are too many requests",
      refuse(429),
      "the API answers too many requests (HTTP 429). Open the event again later.",
    ],
    ["the API fails", refuse(500), "the API answered HTTP 500 when asked for the delivery log."],
    ["the path is another one", refuse(404), "the API answered HTTP 404 when asked for the delivery log."],
    [
      "the connection breaks",
      ({ faults }) => faults.api.add({ fault: { kind: "no_answer", executed: false } }),
      "the API did not answer in time.",
    ],
  ])("when %s", async (title, prepare, why) => {
    const isOfKey = title.startsWith("the key");
    const { sandbox, dashboard, calls, read } = await start(isOfKey ? { apiKey: NARROW } : {});
    const [id, another] = [await emit(sandbox), await emit(sandbox)];
    prepare(sandbox);
    expect(await read(id)).toEqual({ attempts: [], note: LEAD + why });
    // What fails for one event is not asked for the next one.
    expect(await read(another)).toEqual({ attempts: [], note: LEAD + why });
    expect(calls).toHaveLength(1);
    expect((await dashboard.get(`api/events/${id}`)).status).toBe(200);
  });

  test("when the API does not answer in time, the reading ends", async () => {
    const { sandbox, read } = await start({ fetch: () => new Promise<never>(() => undefined) });
    const reading = read(await emit(sandbox));
    await setImmediate();
    await sandbox.advance("10s");
    expect(await reading).toEqual({ attempts: [], note: `${LEAD}the API did not answer in time.` });
  });

  test("a log is asked again once the time is over that the API asked for", async () => {
    const { sandbox, calls, read } = await start();
    const id = await emit(sandbox);
    sandbox.faults.api.add({ fault: { kind: "error", status: 429, retryAfter: "120" }, times: 1 });
    expect((await read(id)).note).toContain("HTTP 429");
    await sandbox.advance("119s");
    expect((await read(id)).note).toContain("HTTP 429");
    expect(calls).toHaveLength(1);
    await sandbox.advance("2s");
    expect((await read(id)).note).toBeNull();
  });

  test("a log whose rows name no event says so", async () => {
    const { sandbox, read } = await start({ editAnswer: (text) => text.replaceAll('"eventId"', '"of"') });
    const id = await emit(sandbox);
    expect((await read(id)).note).toBe(`${LEAD}the service's delivery log does not say of which event a row is.`);
  });

  test("a body without an event id has none that could be found", async () => {
    const { sandbox, receiver, secret, calls, read } = await start();
    await post(receiver, "no JSON", { secret, at: sandbox.clock.now() });
    const [event] = (await receiver.inbox.list()).items;
    expect((await read(event?.id ?? "")).note).toBe(`${LEAD}the body has no event id by which to find them.`);
    expect(calls).toEqual([]);
  });

  test("an event that is not there is not found", async () => {
    const { dashboard } = await start();
    expect(await dashboard.get("api/events/missing/deliveries")).toMatchObject({ status: 404 });
  });
});

test("an answer of success that is no log is not said to be an error of HTTP", () => {
  const unread = { kind: "unread", reason: "other_answer", status: 200, retryAfterMs: undefined } as const;
  const { note } = eventDeliveries(unread, String);
  expect(note).toBe(
    "Earlier and later attempts of the service are not known: the API's answer, HTTP 200, could not be read as a delivery log.",
  );
});
