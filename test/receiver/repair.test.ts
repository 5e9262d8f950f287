import { type RepairReport, createSqliteStore } from "pigeonhole";
import { createClient } from "pigeonhole/client";
import type { ApiFaultRule, DeliveryFaultRule } from "pigeonhole/sandbox";
import { describe, expect, test } from "vitest";
import { backUpInboxFile } from "#pigeonhole/store/sqlite/back-up-inbox-file.js";
import { errorOf } from "../support/error-of.js";
import { type LossyServiceOptions, openLossyService } from "../support/lossy-service.js";
import { passWaits } from "../support/pass-waits.js";
import { NOTHING_TO_PRUNE } from "../store/conformance/new-event.js";
import { decorateStore, openReceiver, storeIn, tempFile } from "../support/receiver.js";
import { type MissingEvent, readOffPeriods } from "#pigeonhole/receiver/repair-report.js";
import type { RepairOptions } from "#pigeonhole/receiver/repair-endpoint.js";
import { operatedBy } from "../support/operate.js";

const TOKEN = "svc_live_of_the_repair";

const reasonsOf = ({ stillMissing }: RepairReport): MissingEvent["reason"][] =>
  stillMissing.map(({ reason }) => reason);

/** What happens to the replays of a repair. */
interface Trouble {
  options?: LossyServiceOptions;
  delivery?: DeliveryFaultRule;
  api?: ApiFaultRule["fault"];
}

const ALL_ON = { enabled: true, switchedOn: false, stopped: undefined, unnamedRows: 0, offPeriods: [] };

describe("receiver.repair", () => {
  test("events lost to final answers arrive, once each, and a second repair finds none missing", async () => {
    const service = await openLossyService();
    const before = await service.emit(2);
    const lost = await service.lose(3, 404);
    const after = await service.emit(1);
    const found = { endpointId: service.id, found: 3, ...ALL_ON, logReachesBack: false, stillMissing: [] };
    expect(await service.repair()).toEqual({ ...found, missing: 3, replayed: 3, arrived: 3 });
    await service.receiver.drain();
    expect(service.handled.toSorted()).toEqual([...before, ...lost, ...after].toSorted());
    expect(await service.repair()).toEqual({ ...found, missing: 0, replayed: 0, arrived: 0 });
    await service.receiver.drain();
    expect(service.handled).toHaveLength(6);
  });

  test("events of a named source are compared under its name, and one without it is refused", async () => {
    const service = await openLossyService({ source: "acme" });
    const before = await service.emit(2);
    const lost = await service.lose(1, 404);
    expect(await service.repair()).toMatchObject({ found: 1, missing: 1, replayed: 1, arrived: 1, stillMissing: [] });
    await service.receiver.drain();
    expect(service.handled.toSorted()).toEqual([...before, ...lost].toSorted());
    for (const source of ["", "nobody"]) {
      const error = await errorOf(() => service.repair({ source }));
      expect(error).toMatchObject({ code: "invalid_option", message: expect.stringContaining('"acme", "other"') });
    }
  });

  test("an event that a later attempt has delivered is found, and neither missing nor replayed", async () => {
    const service = await openLossyService();
    await service.lose(1, 503);
    await service.sandbox.advance("2m");
    expect(await service.repair()).toMatchObject({ found: 1, missing: 0, replayed: 0 });
    expect(service.sandbox.deliveries({ kind: "replay" })).toEqual([]);
  });

  test("more events than a page of the log arrive, the oldest first", async () => {
    const service = await openLossyService();
    const ids: string[] = [];
    for (let group = 0; group < 2; group += 1) {
      service.breakWith(500);
      ids.push(...(await service.emit(7)));
      await service.sandbox.advance("31h");
      service.sandbox.faults.clear();
      await service.emit(1);
    }
    expect(service.sandbox.deliveries()).toHaveLength(2 * (7 * 8 + 1));
    expect(await service.repair()).toMatchObject({ found: 14, missing: 14, arrived: 14, stillMissing: [] });
    const replayed = service.sandbox.deliveries({ kind: "replay" }).map(({ eventId }) => eventId);
    expect(replayed).toHaveLength(14);
    // The last attempts of the events of a group have a jitter.
    for (const from of [0, 7]) {
      expect(replayed.slice(from, from + 7).toSorted()).toEqual(ids.slice(from, from + 7).toSorted());
    }
  });

  test("a dry run says what is missing and changes nothing", async () => {
    const service = await openLossyService();
    const [id] = await service.lose(1, 410);
    const report = await service.repair({ dryRun: true, enable: true });
    expect(report).toMatchObject({ found: 1, missing: 1, replayed: 0, arrived: 0, enabled: false, switchedOn: false });
    expect(report.stillMissing).toEqual([
      {
        id,
        type: "email.bounced",
        firstFailedAt: new Date(service.since).toISOString(),
        responseCode: 410,
        reason: "not_replayed",
      },
    ]);
    expect(service.sandbox.endpoints.get(service.id).enabled).toBe(false);
    expect(service.sandbox.deliveries()).toHaveLength(1);
  });

  test("nothing is replayed to an endpoint that is off, unless it is to be switched on", async () => {
    const service = await openLossyService();
    await service.lose(1, 410);
    await service.sandbox.advance("1h");
    const offPeriods = [{ from: new Date(service.since).toISOString(), until: null }];
    const refused = await service.repair();
    expect(refused).toMatchObject({ stopped: "endpoint_off", enabled: false, replayed: 0, offPeriods });
    expect(reasonsOf(refused)).toEqual(["not_replayed"]);
    const repaired = await service.repair({ enable: true });
    expect(repaired).toMatchObject({ enabled: true, switchedOn: true, arrived: 1, stillMissing: [], offPeriods });
    const until = new Date(service.sandbox.clock.now()).toISOString();
    expect(await service.repair({ enable: true })).toMatchObject({
      switchedOn: false,
      missing: 0,
      offPeriods: [{ ...offPeriods[0], until }],
    });
  });

  test("the log reaches back when it has a row from before", async () => {
    const service = await openLossyService();
    await service.emit(1);
    await service.sandbox.advance("1m");
    await service.emit(1);
    expect(await service.repair()).toMatchObject({ logReachesBack: false });
    expect(await service.repair({ since: service.since + 1 })).toMatchObject({ logReachesBack: true });
  });

  test("a failed test delivery is no missing event", async () => {
    const service = await openLossyService();
    service.breakWith(404);
    const client = createClient(service.sandbox.clientOptions);
    expect(await client.webhooks.test(service.id)).toMatchObject({ delivery: { status: "failed" } });
    await service.emit(1);
    service.sandbox.faults.clear();
    expect(await service.repair()).toMatchObject({ found: 1, missing: 1, replayed: 1, arrived: 1, unnamedRows: 0 });
  });

  test("a begin in the future is refused, unless the log has attempts since then", async () => {
    const service = await openLossyService();
    const since = service.sandbox.clock.now() + 1;
    const error = await errorOf(() => service.repair({ since, mayRepeat: true, enable: true }));
    expect(error).toMatchObject({ code: "invalid_argument", message: expect.stringContaining("in the future") });
    await service.sandbox.advance("1m");
    await service.lose(1, 404);
    expect(await service.repair({ since })).toMatchObject({ found: 1, arrived: 1 });
  });

  test("rows that name no event are counted", async () => {
    const service = await openLossyService({ editAnswer: (text) => text.replaceAll('"eventId"', '"event"') });
    service.breakWith(404);
    await service.emit(2);
    expect(await service.repair()).toMatchObject({ found: 0, missing: 0, unnamedRows: 2 });
  });
});

describe("what the inbox may have forgotten", () => {
  test.each(["both", "accept"] as const)(
    "a begin before the inbox is refused with mayRepeat as the way out, with the role %s",
    async (role) => {
      const service = await openLossyService({ role });
      await service.lose(1, 404);
      const since = service.since - 120_000;
      const error = await errorOf(() => service.repair({ since, enable: true }));
      expect(error).toMatchObject({ code: "invalid_argument", message: expect.stringContaining("mayRepeat") });
      expect(service.sandbox.deliveries()).toHaveLength(1);
      expect(await service.repair({ since, mayRepeat: true })).toMatchObject({ arrived: 1, stillMissing: [] });
    },
  );

  test("an event whose first attempt may be from before the inbox is only replayed with mayRepeat", async () => {
    const service = await openLossyService();
    service.breakWith(503);
    await service.emit(1);
    await service.sandbox.advance("3m");
    service.sandbox.faults.clear();
    const since = service.since + 1;
    const report = await service.repair({ since });
    expect(report).toMatchObject({ found: 1, missing: 1, replayed: 0, arrived: 0 });
    expect(reasonsOf(report)).toEqual(["may_repeat"]);
    expect(await service.repair({ since, mayRepeat: true })).toMatchObject({ arrived: 1, stillMissing: [] });
  });
});

test("an event that a later attempt has delivered is not replayed into a restored backup without it", async () => {
  const file = tempFile();
  const service = await openLossyService({ store: storeIn(file) });
  service.breakWith(503);
  const ids = await service.emit(1);
  await backUpInboxFile({ file, copy: `${file}.copy` });
  service.sandbox.faults.clear();
  await service.sandbox.advance("2m");
  await service.receiver.drain();
  expect(service.handled).toEqual(ids);
  const restored = openReceiver({ store: storeIn(`${file}.copy`), api: service.sandbox.clientOptions });
  await restored.start();
  const report = await restored.repair({ endpointId: service.id, since: service.since });
  expect(report).toMatchObject({ found: 1, missing: 1, replayed: 0 });
  expect(reasonsOf(report)).toEqual(["may_repeat"]);
});

test("an event whose id retention removes during the repair is not replayed", async () => {
  let isToPrune = false;
  const store = decorateStore((real) =>
    operatedBy(real, (inbox) => ({
      async listEvents(query) {
        if (isToPrune) await real.prune({ ...NOTHING_TO_PRUNE, now: Date.now(), idsBefore: Date.now() + 600_000 });
        return inbox.listEvents(query);
      },
    })),
  );
  const service = await openLossyService({ store });
  service.sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, times: 1 });
  const ids = await service.emit(1);
  await service.receiver.drain();
  expect(service.handled).toEqual(ids);
  isToPrune = true;
  const report = await service.repair();
  expect(report).toMatchObject({ found: 1, missing: 1, replayed: 0 });
  expect(reasonsOf(report)).toEqual(["may_repeat"]);
});

describe("a replay that failed", () => {
  /** An event that was handled and forgotten, and whose replay by hand has failed since. */
  const openForgotten = async (options: LossyServiceOptions = {}) => {
    const store = createSqliteStore({ file: ":memory:" });
    const service = await openLossyService({ store, ...options });
    service.sandbox.faults.deliveries.add({ fault: { kind: "lose_answer" }, times: 1 });
    const [eventId] = await service.emit(1);
    await service.receiver.drain();
    await service.sandbox.advance("30s");
    const since = service.sandbox.clock.now();
    await store.prune({ ...NOTHING_TO_PRUNE, now: since, idsBefore: since });
    service.breakWith(404);
    const client = createClient(service.sandbox.clientOptions);
    const [row] = service.sandbox.deliveries({ eventId });
    await client.webhooks.replay(service.id, row?.id ?? "");
    service.sandbox.faults.clear();
    return { service, since, eventId };
  };

  test.each<[string, LossyServiceOptions]>([
    ["that the log calls one", {}],
    ["that the log does not tell from an event", { editAnswer: (text) => text.replaceAll('"kind":', '"sort":') }],
  ])("of an event that was handled and forgotten, %s, does not make it run again", async (_, options) => {
    const { service, since, eventId } = await openForgotten(options);
    const report = await service.repair({ since });
    expect(report).toMatchObject({ found: 1, missing: 1, replayed: 0 });
    expect(reasonsOf(report)).toEqual(["may_repeat"]);
    await service.receiver.drain();
    expect(service.handled).toEqual([eventId]);
    expect(await service.repair({ since, mayRepeat: true })).toMatchObject({ arrived: 1, stillMissing: [] });
  });

  test.each(["after", "before"])("does not keep its event, lost %s the begin, from arriving", async (when) => {
    const service = await openLossyService();
    service.breakWith(404);
    const [eventId] = await service.emit(1);
    const [row] = service.sandbox.deliveries({ eventId });
    await service.sandbox.advance("1s");
    const since = when === "after" ? service.since : service.sandbox.clock.now();
    await createClient(service.sandbox.clientOptions).webhooks.replay(service.id, row?.id ?? "");
    service.sandbox.faults.clear();
    expect(await service.repair({ since })).toMatchObject({ found: 1, replayed: 1, arrived: 1, stillMissing: [] });
  });
});

describe("what becomes of replays", () => {
  /** The service does not say yet what was answered. */
  const pending = (text: string): string =>
    text.includes('"webhook_replay"') ? text.replace('"delivered"', '"pending"') : text;
  const status = (of: number): DeliveryFaultRule => ({ fault: { kind: "status", status: of }, times: 1 });

  test.each<[string, Trouble, lost: number, arrived: number, MissingEvent["reason"][]]>([
    ["arrives at a receiver that is busy for a moment", { delivery: status(503) }, 2, 2, []],
    ["has arrived although its answer is lost", { delivery: { fault: { kind: "lose_answer" } } }, 1, 1, []],
    ["is waited for while its attempt has not ended", { options: { editAnswer: pending } }, 7, 7, []],
    ["that the receiver refuses keeps no other from arriving", { delivery: status(413) }, 3, 2, ["failed"]],
    ["is told as not arrived in another inbox", { options: { receive: () => new Response() } }, 1, 0, ["not_arrived"]],
    ["is asked for again after too many calls", { api: { kind: "error", status: 429, retryAfter: "0" } }, 2, 2, []],
    ["is asked for again after a failure", { api: { kind: "error", status: 500 } }, 2, 2, []],
    ["is asked for again after a failure behind it", { api: { kind: "error", status: 503, executed: true } }, 2, 2, []],
    ["is asked for again after no answer", { api: { kind: "no_answer", executed: true } }, 2, 2, []],
    ["of a row that is gone keeps no other from arriving", { api: { kind: "error", status: 404 } }, 2, 1, ["gone"]],
    [
      "that the service refuses keeps no other from arriving",
      { api: { kind: "error", status: 422 } },
      2,
      1,
      ["refused"],
    ],
  ])("a replay %s, and takes effect once", async (_, { options, delivery, api }, lost, arrived, reasons) => {
    const service = await openLossyService(options);
    const ids = await service.lose(lost, 404);
    if (delivery !== undefined) service.sandbox.faults.deliveries.add(delivery);
    if (api !== undefined) service.sandbox.faults.api.add({ fault: api, calls: "webhooks.replay", times: 1 });
    const report = await passWaits(() => service.repair({ waitMs: 20 }));
    expect(report).toMatchObject({ replayed: lost, arrived, stopped: undefined });
    expect(reasonsOf(report)).toEqual(reasons);
    await service.receiver.drain();
    const missing = report.stillMissing.map(({ id }) => id);
    expect(service.handled.toSorted()).toEqual(ids.filter((id) => !missing.includes(id)).toSorted());
  });
});

describe("a receiver that does not take what is replayed", () => {
  test.each([
    { failuresBefore: 10, attempts: 5 },
    { failuresBefore: 97, attempts: 2 },
    { failuresBefore: 98, attempts: 1 },
    { failuresBefore: 99, attempts: 0 },
  ])(
    "after $failuresBefore failures in a row a repair ends after $attempts more, and the endpoint stays on",
    async ({ failuresBefore, attempts }) => {
      const service = await openLossyService();
      service.breakWith(404);
      await service.emit(failuresBefore);
      const report = await service.repair();
      expect(report).toMatchObject({ stopped: "replays_fail", enabled: true, replayed: attempts, arrived: 0 });
      const reasons = reasonsOf(report);
      expect(reasons.filter((reason) => reason === "failed")).toHaveLength(attempts);
      expect(reasons.filter((reason) => reason === "not_replayed")).toHaveLength(failuresBefore - attempts);
      expect(service.sandbox.endpoints.get(service.id).enabled).toBe(true);
    },
  );

  test("an endpoint that is switched off during the repair ends it", async () => {
    const service = await openLossyService({
      receive(request) {
        if (service.sandbox.deliveries({ kind: "replay" }).length === 1) {
          service.sandbox.endpoints.update(service.id, { enabled: false });
        }
        return service.receiver.fetch(request);
      },
    });
    await service.lose(4, 404);
    const report = await service.repair();
    expect(report).toMatchObject({ stopped: "endpoint_off", enabled: false, replayed: 2, arrived: 2 });
    expect(reasonsOf(report)).toEqual(["not_replayed", "not_replayed"]);
  });
});

describe("the API during a repair", () => {
  test.each([403, 404])("a list of changes that is answered %i is done without", async (status) => {
    const service = await openLossyService();
    service.breakWith(410);
    await service.emit(1);
    service.sandbox.faults.api.add({ fault: { kind: "error", status }, calls: "webhooks.activity" });
    const offPeriods = [{ from: new Date(service.since).toISOString(), until: null }];
    expect(await service.repair({ dryRun: true })).toMatchObject({ missing: 1, offPeriods });
  });

  test("a key that may only read does a dry run, and is refused before anything else is changed", async () => {
    const service = await openLossyService({ apiKeys: [{ token: TOKEN, scopes: ["webhooks:read"] }] });
    service.breakWith(404);
    await service.emit(1);
    expect(await service.repair({ dryRun: true })).toMatchObject({ missing: 1 });
    expect(await errorOf(() => service.repair())).toMatchObject({ code: "insufficient_scope", status: 403 });
  });

  test.each<[string, { api?: false; stopped?: true }, object, string]>([
    ["of an unknown endpoint", {}, { endpointId: `whe_${"0".repeat(24)}` }, "resource_not_found"],
    ["without the option api", { api: false }, {}, "api_not_configured"],
    ["with an unknown option", {}, { misspelt: 1 }, "invalid_option"],
    ["with a begin that is no time", {}, { since: "yesterday" }, "invalid_option"],
    ["without a begin", {}, { since: undefined }, "invalid_option"],
    ["after the stop", { stopped: true }, {}, "stopped"],
  ])("a repair %s is refused", async (_, receiver, changes, code) => {
    const service = await openLossyService();
    const used = receiver.api === false ? openReceiver() : service.receiver;
    if (receiver.stopped === true) await used.stop();
    const options = { endpointId: service.id, since: service.since, ...changes } as RepairOptions;
    expect(await errorOf(() => used.repair(options))).toMatchObject({ code });
  });

  test("an aborted repair rejects with the reason, and the next one goes on", async () => {
    const stop = new AbortController();
    const service = await openLossyService({
      receive(request) {
        if (service.sandbox.deliveries({ kind: "replay" }).length === 1) stop.abort(new Error("enough"));
        return service.receiver.fetch(request);
      },
    });
    await service.lose(4, 404);
    expect(await errorOf(() => service.repair({ signal: stop.signal }))).toMatchObject({ message: "enough" });
    const report = await service.repair();
    expect(report).toMatchObject({ found: 4, stillMissing: [] });
    expect(report.missing).toBeLessThan(4);
  });
});

describe("when an endpoint was off", () => {
  const [A, B, C] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"];
  const changes = (...kinds: ("enabled" | "disabled" | "updated")[]) =>
    kinds.map((kind, index) => ({
      id: `${index}`,
      endpointId: "whe_1",
      kind,
      actor: null,
      createdAt: [A, B, C][index] ?? null,
    }));

  test.each([
    ["never", changes(), true, []],
    ["never, and changed otherwise", changes("updated"), true, []],
    ["and on again", changes("disabled", "updated", "enabled"), true, [{ from: A, until: C }]],
    ["before the first change", changes("enabled"), true, [{ from: null, until: A }]],
    [
      "twice",
      changes("enabled", "disabled"),
      false,
      [
        { from: null, until: A },
        { from: B, until: null },
      ],
    ],
    ["and still is", changes("disabled"), false, [{ from: A, until: null }]],
    ["as only the endpoint says", changes(), false, [{ from: C, until: null }]],
  ])("off %s", (_, switches, enabled, periods) => {
    expect(readOffPeriods(switches, { enabled, disabledAt: enabled ? null : (C ?? null) })).toEqual(periods);
  });
});
