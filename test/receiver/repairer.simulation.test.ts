import type { Alarm, Receiver } from "pigeonhole";
import { describe, expect, test } from "vitest";
import { errorOf } from "../support/error-of.js";
import { type LossyService, type LossyServiceOptions, openLossyService } from "../support/lossy-service.js";
import { captureLog, makeEvent, openReceiver, post, storeIn, tempFile } from "../support/receiver.js";

const EVERY_MS = 1_200_000;

/** The service, and a receiver that repairs its endpoint every 20 minutes. */
async function openRepaired(options: LossyServiceOptions = {}) {
  const alarms: Alarm[] = [];
  const log = captureLog();
  const onAlarm = (alarm: Alarm): void => void (alarm.kind === "events_missed" && alarms.push(alarm));
  const service = await openLossyService({ every: "20m", role: "accept", onAlarm, logger: log.logger, ...options });
  await untilRound(service.receiver);
  return { ...service, alarms, log };
}

const roundOf = async (receiver: Pick<Receiver, "stats">) => (await receiver.stats()).repair;

const endOfRound = async (receiver: Pick<Receiver, "stats">) => Date.parse((await roundOf(receiver))?.at ?? "1970");

/** Waits until a round has ended after the one of that time. */
async function untilRound(receiver: Pick<Receiver, "stats">, after = 0) {
  await expect.poll(() => endOfRound(receiver), { interval: 2 }).toBeGreaterThan(after);
  return roundOf(receiver);
}

/** Lets the time pass until the next round, and that round end. */
async function nextRound({ sandbox, receiver }: Pick<LossyService, "sandbox" | "receiver">) {
  const at = await endOfRound(receiver);
  await sandbox.advance(at + EVERY_MS - sandbox.clock.now());
  return untilRound(receiver, at);
}

/** Another process that repairs the endpoint, on the store of a file or on one of its own. */
async function startBeside({ sandbox, secret, id }: LossyService, file = ":memory:") {
  const receiver = openReceiver({
    store: storeIn(file),
    secrets: secret,
    role: "accept",
    api: sandbox.clientOptions,
    clock: sandbox.clock,
    repair: { endpointId: id, every: "20m" },
  });
  await receiver.start();
  return receiver;
}

describe("the option repair", () => {
  test("with 5 % lost to a 404, and an endpoint that was off for hours, the inbox has all after two rounds", async () => {
    let requests = 0;
    const service = await openRepaired({
      source: "acme",
      assumptions: { eventsOfDisabled: "logged" },
      receive: (request) => {
        requests += 1;
        return requests % 20 === 0 ? new Response(null, { status: 404 }) : service.receiver.fetch(request);
      },
    });
    const { sandbox, receiver, id, alarms } = service;
    const fired = await service.emit(110);
    sandbox.endpoints.update(id, { enabled: false });
    fired.push(...(await service.emit(5)));
    await sandbox.advance("15m");
    const off = { endpointId: id, missing: 10, replayed: 0, stillMissing: 10, refused: "endpoint_off" };
    for (let round = 0; round < 6; round += 1) expect(await nextRound(service)).toMatchObject(off);
    sandbox.endpoints.update(id, { enabled: true });
    // One replay is lost again.
    const first = { missing: 10, replayed: 10, stillMissing: 1, refused: "failed" };
    const second = { missing: 1, replayed: 1, stillMissing: 0, refused: null };
    const none = { missing: 0, replayed: 0, stillMissing: 0, refused: null };
    for (const round of [first, second, none]) expect(await nextRound(service)).toMatchObject(round);
    await receiver.drain();
    expect(service.handled.toSorted()).toEqual(fired.toSorted());
    await sandbox.advance("1m");
    const isOver = () => service.log.named("alarm_over").some(({ alarm }) => alarm === "events_missed");
    await expect.poll(isOver).toBe(true);
    expect(alarms[0]).toEqual({ kind: "events_missed", ...off });
    expect(alarms.at(-1)).toMatchObject(second);
  });

  test("an attempt that the service repeats within minutes is left to the service", async () => {
    const service = await openRepaired();
    await service.sandbox.advance("15m");
    await service.lose(1, 503);
    expect(await nextRound(service)).toMatchObject({ missing: 0 });
    expect(await nextRound(service)).toMatchObject({ missing: 0, refused: null });
    expect(service.sandbox.deliveries({ kind: "replay" })).toEqual([]);
    expect((await service.receiver.inbox.list()).items).toHaveLength(1);
  });

  test("what the receiver does not take is tried in each round, until it arrives", async () => {
    const service = await openRepaired();
    service.breakWith(413);
    await service.emit(1);
    for (let round = 0; round < 2; round += 1) {
      expect(await nextRound(service)).toMatchObject({ missing: 1, replayed: 1, stillMissing: 1, refused: "failed" });
    }
    service.sandbox.faults.clear();
    expect(await nextRound(service)).toMatchObject({ missing: 1, replayed: 1, stillMissing: 0, refused: null });
    expect(await nextRound(service)).toMatchObject({ missing: 0 });
  });

  test("replays stop at half of the failures that switch the endpoint off, until a delivery succeeds", async () => {
    const service = await openRepaired();
    const { sandbox, id } = service;
    const failures = () => sandbox.endpoints.get(id).consecutiveFailures;
    service.breakWith(404);
    await service.emit(42);
    expect(await nextRound(service)).toMatchObject({ missing: 42, replayed: 5, refused: "replays_fail" });
    expect(failures()).toBe(47);
    expect(await nextRound(service)).toMatchObject({ missing: 42, replayed: 3, refused: "replays_fail" });
    for (let round = 0; round < 3; round += 1) {
      expect(await nextRound(service)).toMatchObject({ replayed: 0, stillMissing: 42, refused: "replays_fail" });
    }
    expect(failures()).toBe(50);
    service.sandbox.faults.clear();
    expect(await nextRound(service)).toMatchObject({ replayed: 0, refused: "replays_fail" });
    await service.emit(1);
    expect(failures()).toBe(0);
    expect(await nextRound(service)).toMatchObject({ missing: 42, replayed: 42, stillMissing: 0, refused: null });
  });

  test("what was fired before the inbox began is never replayed", async () => {
    const service = await openRepaired();
    const { sandbox, receiver } = service;
    await service.lose(2, 404);
    await sandbox.advance("15m");
    await receiver.stop();
    const later = await startBeside(service);
    await sandbox.advance("1m");
    await untilRound(later);
    for (const refused of [null, null])
      expect(await nextRound({ sandbox, receiver: later })).toMatchObject({ refused });
    expect(sandbox.deliveries({ kind: "replay" })).toEqual([]);
  });
});

test("of two processes with one store, one makes a round", async () => {
  const file = tempFile();
  const service = await openRepaired({ store: storeIn(file) });
  const { sandbox, receiver } = service;
  const beside = await startBeside(service, file);
  await service.lose(3, 404);
  const round = await nextRound(service);
  expect(round).toMatchObject({ missing: 3, replayed: 3, stillMissing: 0 });
  expect(await roundOf(beside)).toEqual(round);
  await receiver.stop();
  await sandbox.advance("1m");
  expect(await nextRound({ sandbox, receiver: beside })).toMatchObject({ missing: 0 });
  expect(sandbox.deliveries({ kind: "replay" })).toHaveLength(3);
});

test("a round that a process has not ended is left to a later one, which replays nothing that is there", async () => {
  const file = tempFile();
  let attempts = 0;
  const service = await openRepaired({
    store: storeIn(file),
    receive: (request) => {
      attempts += 1;
      return attempts === 2 ? new Promise(() => undefined) : taking.fetch(request);
    },
  });
  let taking: Pick<Receiver, "fetch" | "inbox" | "stats"> = service.receiver;
  const { sandbox, receiver } = service;
  const lost = await service.lose(3, 404);
  await sandbox.advance("20m");
  await expect.poll(() => attempts).toBe(2);
  expect((await receiver.inbox.list()).items).toHaveLength(1);
  // The round stays claimed, as by a process that was killed.
  await receiver.stop({ timeoutMs: 0 });
  taking = await startBeside(service, file);
  const round = async () => (await sandbox.advance("1m"), (await roundOf(taking))?.missing);
  await expect.poll(round, { interval: 2 }).toBe(2);
  expect(await roundOf(taking)).toMatchObject({ replayed: 2, stillMissing: 0, refused: null });
  expect((await taking.inbox.list()).items.map(({ id }) => id).toSorted()).toEqual(lost.toSorted());
  expect(attempts).toBe(4);
});

describe("a round that fails", () => {
  test.each([
    ["the API is down", { kind: "error", status: 503 }, "injected_503"],
    ["the key is refused", { kind: "error", status: 401 }, "injected_401"],
  ] as const)("is said with its code where %s, and the next one goes on", async (_, fault, refused) => {
    const service = await openRepaired();
    await service.lose(2, 404);
    service.sandbox.faults.api.add({ fault });
    await service.sandbox.advance("20m");
    // The client's waits for its next try.
    for (let tries = 0; tries < 5; tries += 1) await service.sandbox.advance("20s");
    await expect.poll(() => roundOf(service.receiver)).toMatchObject({ missing: 0, refused });
    expect(service.log.named("repair_failed")).toHaveLength(1);
    await service.sandbox.advance("1m");
    await expect.poll(() => service.alarms).toMatchObject([{ kind: "events_missed", missing: 0 }]);
    service.sandbox.faults.clear();
    expect(await nextRound(service)).toMatchObject({ missing: 2, stillMissing: 0, refused: null });
  });

  test("a round whose key may not replay says how many events it found", async () => {
    const service = await openRepaired({ apiKeys: [{ token: "svc_live_reads", scopes: ["webhooks:read"] }] });
    await service.lose(3, 404);
    const found = { missing: 3, replayed: 0, stillMissing: 3, refused: "insufficient_scope" };
    for (let round = 0; round < 2; round += 1) expect(await nextRound(service)).toMatchObject(found);
    await service.sandbox.advance("1m");
    await expect.poll(() => service.alarms.at(-1)).toMatchObject(found);
  });

  test("a round that fails between two replays says how many events have arrived", async () => {
    const service = await openRepaired({
      receive: (request) => {
        service.sandbox.faults.api.add({ fault: { kind: "error", status: 401 } });
        return service.receiver.fetch(request);
      },
    });
    await service.lose(3, 404);
    const found = { missing: 3, replayed: 1, stillMissing: 2, refused: "injected_401" };
    expect(await nextRound(service)).toMatchObject(found);
  });

  test("a round that hangs keeps no delivery waiting, and ends with the stop", async () => {
    const service = await openRepaired();
    await service.lose(1, 404);
    service.sandbox.faults.api.add({ fault: { kind: "no_answer", executed: false } });
    await service.sandbox.advance("20m");
    const { secret, sandbox, receiver } = service;
    expect(await post(receiver, makeEvent(), { secret, at: sandbox.clock.now() })).toMatchObject({ status: 200 });
    await receiver.stop({ timeoutMs: 0 });
    expect(service.log.named("repair_failed")).toEqual([]);
  });
});

const ENDPOINT_ID = "whe_65b8f0a2c4d6e8f001234567";

test.each([
  ["without the option api", { api: undefined }, "repair calls the service"],
  ["without an endpoint", { repair: {} }, "repair.endpointId must be"],
  ...["x", "whe_1", ` ${ENDPOINT_ID}`, `${ENDPOINT_ID}\n`, `"${ENDPOINT_ID}"`, `${ENDPOINT_ID}0`, [ENDPOINT_ID]].map(
    (endpointId): [string, object, string] => [
      `for the id ${JSON.stringify(endpointId)}`,
      { repair: { endpointId } },
      "repair.endpointId must be the id of an endpoint: whe_ and 24 hex digits",
    ],
  ),
  ["of a source that has no secret", { repair: { endpointId: ENDPOINT_ID, source: "acme" } }, "repair.source must be"],
  ["with an interval that is none", { repair: { endpointId: ENDPOINT_ID, every: "hourly" } }, "repair.every"],
  ["with an interval that is too short", { repair: { endpointId: ENDPOINT_ID, every: "1s" } }, "repair.every"],
  ["with an unknown option", { repair: { endpointId: ENDPOINT_ID, since: 1 } }, 'repair has no option "since"'],
])("a receiver with the option repair %s is refused", async (_, changes, message) => {
  const options = {
    api: { apiKey: "svc_live_1", baseUrl: "https://x.example" },
    repair: { endpointId: ENDPOINT_ID },
    ...changes,
  };
  const error = await errorOf(async () => openReceiver(options as never));
  expect(error).toMatchObject({ code: "invalid_option", message: expect.stringContaining(message) });
});
