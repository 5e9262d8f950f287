import Database from "better-sqlite3";
import type { Receiver, ReceiverOptions } from "pigeonhole";
import { setTimeout as sleep } from "node:timers/promises";
import { createDashboard } from "pigeonhole/dashboard";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ErrorGroupList } from "#pigeonhole/store/error-groups.js";
import type { FileText, ListedEvent, RowPage, WholeEvent } from "#pigeonhole/web/api/event.js";
import type { BulkJob } from "#pigeonhole/store/bulk-jobs.js";
import type { RunCounts } from "#pigeonhole/store/inbox-operator.js";
import type { BulkJobList } from "#pigeonhole/dashboard/job-body.js";
import type { OverviewFigures } from "#pigeonhole/dashboard/state-now.js";
import type { HandlerReport } from "#pigeonhole/web/api/handlers.js";
import { HOUR } from "#pigeonhole/base/duration.js";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { type FakeClock, TEST_SECRET, fakeClock } from "pigeonhole/testing";
import {
  captureLog,
  decorateStore,
  makeEvent,
  makeGate,
  openReceiver,
  post,
  tempFile,
  untilWork,
} from "../support/receiver.js";
import { type DashboardClient, OPERATOR, openDashboard } from "./dashboard-client.js";
import { fileStore } from "./file-store.js";
import { writeRuns } from "../support/ended-runs.js";
import { operatedBy } from "../support/operate.js";
import { readServerEvents } from "../support/server-events.js";
// The first record of a contact event loads it, which is no time of a test.
import "#pigeonhole/client/create-client.js";

/** A receiver whose handler fails for events with `data.fails`; `runs` has the ids of its runs. */
async function start(options: Partial<ReceiverOptions> = {}) {
  const log = captureLog();
  const runs: string[] = [];
  const receiver = openReceiver({ logger: log.logger, ...options });
  receiver.on(
    "email.sent",
    ({ id, data }) => {
      runs.push(id);
      if (data instanceof Object && "fails" in data)
        throw new TypeError(`no ${String(data["fails"])} for order ${Math.random()}`);
    },
    { retry: { maxAttempts: 1 } },
  );
  await receiver.start();
  return { receiver, log, runs, dashboard: openDashboard(receiver) };
}

async function postDead(receiver: Receiver, count: number, fails = "luck"): Promise<string[]> {
  const events = Array.from({ length: count }, () => makeEvent({ data: { fails } }));
  for (const event of events) await post(receiver, event);
  await untilWork(receiver, events.at(-1)?.id ?? "", { state: "dead" });
  return events.map(({ id }) => id);
}

/** Posts an event and waits until its handler is done with it. */
async function postDone(receiver: Receiver, data: Record<string, unknown>): Promise<string> {
  const event = makeEvent({ data });
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "done" });
  return event.id;
}

/** The ids of the events that a query lists, sorted. */
async function idsOf(dashboard: DashboardClient, query: string): Promise<string[]> {
  const { body } = await dashboard.get<RowPage<ListedEvent>>(`api/events?${query}`);
  return body.items.map(({ id }) => id).toSorted();
}

async function untilJobEnds(dashboard: DashboardClient, id: string, clock: FakeClock): Promise<BulkJob | undefined> {
  const find = async () => {
    await clock.advance(1_000);
    const { body } = await dashboard.get<BulkJobList>("api/jobs");
    return body.jobs.find((job) => job.id === id);
  };
  await expect.poll(async () => (await find())?.state).not.toBe("open");
  return find();
}

describe("events", () => {
  test("they are listed by state, id and a text of the payload without personal data, unless that is gone", async () => {
    const file = tempFile();
    const { receiver, dashboard } = await start({ store: fileStore(file) });
    const [dead = ""] = await postDead(receiver, 1);
    const done = await postDone(receiver, { crossing: "Main Street" });
    const both = [dead, done].toSorted();
    const found: [query: string, ids: string[]][] = [
      ["", both],
      ["state=dead", [dead]],
      ["handler=email.sent&state=", both],
      [`text=${done}`, [done]],
      [`text=${done}&state=dead`, []],
      // Texts are redacted, but their names and shapes stay.
      ["text=CROSSING", [done]],
      ["text=rossing", [done]],
      ["text=main", []],
    ];
    for (const [query, ids] of found) expect([query, await idsOf(dashboard, query)]).toEqual([query, ids]);
    new Database(file).exec("DELETE FROM inbox_body").close();
    expect(await idsOf(dashboard, "text=crossing")).toEqual([]);
  });

  test("a search is answered while another one waits for the store", async () => {
    const gate = makeGate();
    onTestFinished(() => gate.open());
    let reads = 0;
    const store = decorateStore((real) =>
      operatedBy(real, (inbox) => ({
        async readBodies(query) {
          reads += 1;
          if (reads === 1) await gate.passed;
          return inbox.readBodies(query);
        },
      })),
    );
    const { receiver, dashboard } = await start({ store });
    const id = await postDone(receiver, { crossing: "Main Street" });
    const first = idsOf(dashboard, "text=crossing");
    await expect.poll(() => reads).toBe(1);
    expect(await idsOf(dashboard, "text=crossing")).toEqual([id]);
    gate.open();
    expect(await first).toEqual([id]);
  });

  test.each(["state=odd", "since=odd", "cursor=odd"])("%s is refused", async (query) => {
    const { dashboard } = await start();
    expect((await dashboard.get(`api/events?${query}`)).status).toBe(400);
  });

  test("one event has its life, its errors and its redacted payload", async () => {
    const { receiver, dashboard } = await start();
    const [id = ""] = await postDead(receiver, 1);
    const { body } = await dashboard.get<WholeEvent>(`api/events/${id}`);
    expect(body).toMatchObject({ id, state: "dead", payload: { kind: "redacted", canUnveil: false } });
    expect(body.timeline.map(({ kind }) => kind)).toEqual(["signed", "received", "failed", "dead"]);
    expect(body.timeline.at(2)).toMatchObject({
      handler: "email.sent",
      attempt: 1,
      text: expect.stringContaining("TypeError: no luck for order") as string,
      detail: expect.stringContaining("api.test.ts") as string,
    });
    expect(JSON.parse(body.payload.text ?? "")).toMatchObject({ id, type: "email.sent", data: { fails: "xxxx" } });
  });

  test("an event that is not there, or whose id is hostile, is not found", async () => {
    const { dashboard } = await start();
    for (const id of ["missing", "<script>", "..%2f..%2fetc", "%00", "'; DROP TABLE inbox_event"]) {
      const answer = await dashboard.get(`api/events/${id}`);
      expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
  });

  test("asked for by the service's id, it is shown, saved and logged as the event that was found", async () => {
    const log = captureLog();
    const api = { apiKey: "key", baseUrl: "http://127.0.0.1:9" };
    const receiver = openReceiver({ logger: log.logger, secrets: { acme: TEST_SECRET }, api });
    receiver.on("email.sent", (_, ctx) => ctx.contactEvents.record({ name: "seen", email: "ada@example.com" }));
    await receiver.start();
    const dashboard = openDashboard(receiver, { payloads: "full" });
    const event = makeEvent();
    await post(receiver, event);
    const id = `acme/${event.id}`;
    await untilWork(receiver, id, { state: "done" });
    const { body } = await dashboard.get<WholeEvent>(`api/events/${event.id}`);
    expect(body).toMatchObject({ id, contactEvents: [{ name: "seen" }] });
    for (const kind of ["payload", "fixture", "capture"]) await dashboard.post(`api/events/${event.id}/${kind}`);
    const actions = log.named("dashboard_action").filter(({ action }) => action !== "see_in_full");
    const wanted = ["unveil_payload", "save_fixture", "save_capture"].map((action) => [action, id]);
    expect(actions.map(({ action, eventId }) => [action, eventId])).toEqual(wanted);
  });

  test("it can be retried, discarded, and saved as a fixture and as a redacted capture", async () => {
    const clock = fakeClock(Date.now());
    const { receiver, log, runs, dashboard } = await start({ clock });
    const [id = ""] = await postDead(receiver, 1);
    expect((await dashboard.post(`api/events/${id}/retry`)).body).toEqual({ changed: 1 });
    await expect.poll(() => clock.advance(1_000).then(() => runs)).toEqual([id, id]);
    await untilWork(receiver, id, { state: "dead" });
    const fixture = (await dashboard.post<FileText>(`api/events/${id}/fixture`)).body;
    expect(fixture.name).toBe("email.sent.fixture.json");
    expect(JSON.parse(fixture.text)).toMatchObject({ source: "production", redaction: "default" });
    const capture = (await dashboard.post<FileText>(`api/events/${id}/capture`)).body;
    expect(JSON.parse(capture.text)).toMatchObject({ source: "production", redaction: "strict" });
    expect((await dashboard.post(`api/events/${id}/discard`)).body).toEqual({ changed: 1 });
    expect((await receiver.inbox.get(id))?.state).toBe("discarded");
    const actions = log.named("dashboard_action").map(({ by, action, eventId }) => [by, action, eventId]);
    expect(actions).toEqual(["retry", "save_fixture", "save_capture", "discard"].map((action) => ["ann", action, id]));
  });
});

test("a row of figures that cannot be read is left out of the plots, and logged once", async () => {
  const file = tempFile();
  const { log, dashboard } = await start({ store: fileStore(file) });
  const db = new Database(file);
  const insert = db.prepare("INSERT INTO inbox_figure (resolution, step, figures) VALUES (?, ?, ?)");
  const stepMs = 10_000;
  const step = Date.now() - (Date.now() % stepMs) - 5 * stepMs;
  insert.run(stepMs, step, "no JSON");
  insert.run(stepMs, step - stepMs, '{"answers":{"accepted":3},"runs":{}}');
  db.close();
  for (const range of ["1h", "24h"]) {
    const { status, body } = await dashboard.get<OverviewFigures>(`api/overview?range=${range}`);
    expect(status).toBe(200);
    if (range === "1h") expect(body.answers.accepted).toContain(3);
  }
  await dashboard.get("api/overview");
  expect(log.named("dashboard_figures_unreadable")).toMatchObject([{ rows: 1 }]);
});

describe("errors and jobs", () => {
  test("errors are groups, and a job discards exactly one of them", async () => {
    const clock = fakeClock(Date.now());
    const { receiver, log, dashboard } = await start({ store: fileStore(tempFile()), clock });
    const ids = await postDead(receiver, 3);
    const others = await postDead(receiver, 2, "idea");
    const { body } = await dashboard.get<ErrorGroupList>("api/errors");
    const counts = body.items.map(({ kind, events }) => `${events} ${kind}`);
    expect(counts.toSorted()).toEqual(["2 TypeError", "3 TypeError"]);
    const group = body.items.find(({ events }) => events === 3);
    expect(group).toMatchObject({ handler: "email.sent", type: "email.sent", states: { dead: 3, retrying: 0 } });
    expect(group?.message).not.toMatch(/\d/);
    expect(ids).toContain(group?.example.id);
    // On the first day, the steps are of minutes and not of an hour; those without errors are there too.
    const steps = group?.steps.map(({ at, events }) => ({ at: Date.parse(at), events })) ?? [];
    expect(steps).toHaveLength(12);
    expect(new Set(steps.slice(1).map(({ at }, index) => at - (steps[index]?.at ?? 0)))).toEqual(new Set([60_000]));
    expect(steps.reduce((sum, { events }) => sum + events, 0)).toBe(3);

    const job = { action: "discard", filter: { errorGroup: group?.id } };
    expect((await dashboard.post<RunCounts>("api/jobs/preview", job)).body).toEqual({ events: 3, work: 3 });
    const { id } = (await dashboard.post<BulkJob>("api/jobs", job)).body;
    const done = { action: "discard", by: "ann", state: "done", total: 3, done: 3 };
    expect(await untilJobEnds(dashboard, id, clock)).toMatchObject(done);
    for (const each of ids) expect((await receiver.inbox.get(each))?.state).toBe("discarded");
    for (const each of others) expect((await receiver.inbox.get(each))?.state).toBe("dead");
    expect(log.named("dashboard_action")).toMatchObject([{ by: "ann", action: "create_job", job: id }]);
  });

  test("all groups can be read, page by page, and the cursor names none of them", async () => {
    const { receiver, dashboard } = await start();
    const types = Array.from({ length: 101 }, (_, index) => `custom.${index}`);
    await Promise.all(types.map((type) => post(receiver, makeEvent({ type }))));
    const pages: ErrorGroupList[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body }: { body: ErrorGroupList } = await dashboard.get(`api/errors?state=parked&cursor=${cursor}`);
      pages.push(body);
      expect(body.nextCursor ?? "1-1").toMatch(/^\d+-\d+$/);
      cursor = body.nextCursor;
    }
    expect(pages.map(({ items }) => items.length)).toEqual([50, 50, 1]);
    const listed = pages.flatMap(({ items }) => items.map(({ type }) => type));
    expect(listed.toSorted()).toEqual(types.toSorted());
    expect(await dashboard.get("api/errors?cursor=x")).toMatchObject({ status: 400 });
  });

  test.each<[string, unknown]>([
    ["an action that does not exist", { action: "erase", filter: {} }],
    ["no filter", { action: "retry" }],
    ["a filter that no job knows", { action: "discard", filter: { tenant: "a" } }],
    ["a state that no job changes", { action: "discard", filter: { state: "running" } }],
    ["a time that is none", { action: "discard", filter: { since: "yesterday" } }],
    ["too many ids", { action: "retry", filter: { ids: Array.from({ length: 501 }, (_, index) => `e${index}`) } }],
  ])("a job with %s is refused", async (_, body) => {
    const { dashboard } = await start();
    expect((await dashboard.post("api/jobs", body)).status).toBe(400);
    expect((await dashboard.get<BulkJobList>("api/jobs")).body.jobs).toEqual([]);
  });
});

test("the page of an event has all its contact events, up to a page of the store", async () => {
  const receiver = openReceiver({ api: { apiKey: "key", baseUrl: "http://127.0.0.1:9" } });
  receiver.on("email.sent", ({ data }, { contactEvents }) => {
    const { count } = data as unknown as { count: number };
    for (let index = 0; index < count; index += 1) contactEvents.record({ name: `n${index}`, email: "a@x.example" });
  });
  await receiver.start();
  const dashboard = openDashboard(receiver, { payloads: "full" });
  for (const count of [101, 501]) {
    const id = await postDone(receiver, { count });
    const { body } = await dashboard.get<WholeEvent>(`api/events/${id}`);
    expect(body).toMatchObject({ hasMoreContactEvents: count > 500 });
    expect(body.contactEvents).toHaveLength(Math.min(count, 500));
  }
});

test("a handler is paused and resumed, also by a name that is unknown, unless nobody can have meant that", async () => {
  const { log, dashboard } = await start();
  const change = (to: "pause" | "resume", handler: string) => dashboard.post(`api/handlers/${to}`, { handler });
  const paused = { isKnown: true, handlers: [{ handler: "email.sent", paused: { by: "ann", handler: "email.sent" } }] };
  expect((await change("pause", "email.sent")).body).toMatchObject(paused);
  const unknown = {
    isKnown: false,
    knownHandlers: ["email.sent"],
    handlers: [{}, { handler: "email.snt", paused: {} }],
  };
  expect(await change("pause", "email.snt")).toMatchObject({ status: 200, body: unknown });
  expect((await dashboard.get<OverviewFigures>("api/overview")).body.now.paused).toHaveLength(2);
  const [resumed] = (await dashboard.post<HandlerReport>("api/handlers/resume", { handler: "email.sent" })).body
    .handlers;
  expect(resumed).toMatchObject({ handler: "email.sent", paused: null });
  const refused = { status: 400, body: { message: expect.stringContaining("control") } };
  expect(await change("pause", "a\u0000")).toMatchObject(refused);
  const actions = log.named("dashboard_action").map(({ action, handler }) => `${String(action)} ${String(handler)}`);
  expect(actions).toEqual(["pause email.sent", "pause email.snt", "resume email.sent"]);
});

test("a handler that the code has no more is reported while it has dead work", async () => {
  const file = tempFile();
  const before = await start({ store: fileStore(file) });
  await postDead(before.receiver, 1);
  await before.receiver.stop();
  const receiver = openReceiver({ store: fileStore(file) });
  receiver.on("email.bounced", () => undefined);
  await receiver.start();
  const dashboard = openDashboard(receiver);
  expect(await dashboard.get("api/session")).toMatchObject({ body: { handlers: ["email.bounced"] } });
  const { handlers } = (await dashboard.get<HandlerReport>("api/handlers")).body;
  expect(handlers.map(({ handler }) => handler)).toEqual(["email.bounced", "email.sent"]);
});

test("a handler is failing from half of its runs of a day on, and its last error stands beside it", async () => {
  const { receiver, dashboard } = await start();
  await postDead(receiver, 1);
  const { store } = partsOf(receiver).options;
  const ran = async (outcome: "done" | "failed", runs: number, at = Date.now()) => {
    await writeRuns(store, [{ handler: "email.sent", outcome, fromMs: 1, runs }], at);
    // What was read before is not kept after a change.
    return (await dashboard.post<HandlerReport>("api/handlers/resume", { handler: "email.sent" })).body.handlers[0];
  };
  expect(await ran("done", 1_000, Date.now() - 26 * HOUR)).toMatchObject({ isFailing: false });
  const lastError = { kind: "TypeError", at: expect.any(String) as string };
  expect(await ran("failed", 200)).toMatchObject({ times: { runs: 200, failed: 200 }, isFailing: true, lastError });
  expect(await ran("done", 200)).toMatchObject({ times: { runs: 400, failed: 200 }, isFailing: true });
  expect(await ran("done", 10)).toMatchObject({ times: { runs: 410, failed: 200 }, isFailing: false });
  const of = (since: string) => dashboard.get<HandlerReport>(`api/handlers?since=${since}`);
  expect((await of("2d")).body.handlers).toMatchObject([{ times: { runs: 1_410, failed: 200 } }]);
  expect(await of("soon")).toMatchObject({ status: 400, body: { param: "since" } });
});

test("the overview has the figures of the range and the state now", async () => {
  const { receiver, dashboard } = await start();
  await postDead(receiver, 1);
  for (const [range, stepMs] of Object.entries({ "1h": 10_000, "24h": 600_000, "7d": 1_800_000 })) {
    const { body } = await dashboard.get<OverviewFigures>(`api/overview?range=${range}`);
    expect(body).toMatchObject({ range, stepMs });
    expect(body.backlog.depth).toHaveLength(body.times.length);
    expect(body.now).toMatchObject({ state: "running", store: { dead: 1, pending: 0 }, paused: [] });
    expect(body.now.endpoint).toMatchObject({ failuresInARow: 0, disablesAt: 100, isSilent: false });
    expect(Date.now() - Date.parse(body.now.endpoint.lastAcceptedAt ?? "")).toBeLessThan(60_000);
  }
  expect((await dashboard.get("api/overview?range=1y")).status).toBe(400);
});

test("each of many handlers has all its runs, in the plots and in their sums", async () => {
  const { receiver, dashboard } = await start();
  const { store } = partsOf(receiver).options;
  const names = Array.from({ length: 20 }, (_, place) => `${"handler-".repeat(4)}${10 + place}`);
  const ended = names.map((handler) => ({ handler, fromMs: 0, outcome: "done", runs: 10 }) as const);
  for (let write = 0; write < 3; write += 1) await writeRuns(store, ended, Date.now());
  const { handlers } = (await dashboard.get<OverviewFigures>("api/overview?range=24h")).body;
  expect(handlers.map(({ handler }) => handler)).toEqual(names);
  expect(new Set(handlers.map(({ runs }) => runs.at(-1)))).toEqual(new Set([30]));
  const counted = (await dashboard.get<HandlerReport>("api/handlers")).body.handlers;
  const sums = names.map((name) => counted.find(({ handler }) => handler === name)?.times?.runs);
  expect(new Set(sums)).toEqual(new Set([30]));
});

describe("the stream", () => {
  test("it sends the state at once, changes as they come, and ends with the receiver", async () => {
    const clock = fakeClock(Date.now());
    const { receiver, dashboard } = await start({ store: fileStore(tempFile()), clock });
    const response = await dashboard.fetch(new Request("https://ops.example/api/stream"));
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const seen: string[] = [];
    let dead = 0;
    const reading = (async () => {
      for await (const { event, data } of readServerEvents(response)) {
        seen.push(event);
        if (event === "now") ({ dead } = data["store"] as { dead: number });
      }
    })();
    await expect.poll(() => seen).toContain("now");
    await postDead(receiver, 1);
    await expect.poll(() => clock.advance(1_000).then(() => dead)).toBe(1);
    await receiver.stop({ timeoutMs: 0 });
    await clock.advance(1_000);
    await reading;
    expect(seen.at(-1)).toBe("end");
    expect((await dashboard.get("api/session")).status).toBe(503);
  });

  test("so many pages can have one, and one that leaves makes room", async () => {
    const { receiver } = await start();
    const allow = ({ headers }: Request) => ({ ...OPERATOR, name: headers.get("x-name") ?? "" });
    const dashboard = openDashboard(receiver, { allow });
    const open = (index: number): Promise<Response> => {
      const headers = { "x-name": `person ${Math.floor(index / 10)}` };
      return dashboard.fetch(new Request("https://ops.example/api/stream", { headers }));
    };
    const streams: Response[] = [];
    for (let index = 0; index < 10; index += 1) streams.push(await open(index));
    expect((await open(0)).status).toBe(503);
    for (let index = 10; index < 50; index += 1) streams.push(await open(index));
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect((await open(50)).status).toBe(503);
    await streams[0]?.body?.cancel();
    const again = await open(0);
    expect(again.status).toBe(200);
    for (const each of [...streams.slice(1), again]) await each.body?.cancel();
  });
});

test("a dashboard whose receiver stops meanwhile leaves no rejection that nobody handles", async () => {
  const clock = fakeClock(Date.now());
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  // Counting takes so long that its result is still kept when the stream looks again.
  const store = decorateStore((real) =>
    operatedBy(real, (inbox) => ({
      async overview() {
        const counts = await inbox.overview();
        await clock.advance(30);
        return counts;
      },
    })),
  );
  const { receiver, dashboard } = await start({ store, clock });
  const stream = await dashboard.fetch(new Request("https://ops.example/api/stream"));
  const views = ["overview", "errors", "events", "events?text=a", "running", "handlers", "jobs", "outbox"];
  await dashboard.get("api/overview");
  const reading = views.map((view) => dashboard.get(`api/${view}`));
  await receiver.stop({ timeoutMs: 0 });
  reading.push(...views.map((view) => dashboard.get(`api/${view}`)));
  for (const { status } of await Promise.all(reading)) expect([200, 503]).toContain(status);
  await Promise.all([stream.text(), clock.advance(1_000)]);
  await sleep(0);
  expect(rejections).toEqual([]);
});

test("what is no receiver has no dashboard", () => {
  const refused = expect.objectContaining({ code: "invalid_argument" }) as Error;
  expect(() => createDashboard({ state: "running" })).toThrow(refused);
});
