import { DoNotRetry, type EventQuery } from "pigeonhole";
import { createSandbox } from "pigeonhole/sandbox";
import { TEST_SECRET, fakeClock } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { MINUTE } from "#pigeonhole/base/duration.js";
import { devInboxRoutes } from "#pigeonhole/dev/api/inbox-routes.js";
import { DEVELOPER } from "#pigeonhole/dev/page-port/page-listener.js";
import { BodyFields } from "#pigeonhole/web/body-fields.js";
import { listDeliveries } from "#pigeonhole/dev/api/list-deliveries.js";
import { CONTACT_EVENT_FILTERS, WORK_FILTERS } from "#pigeonhole/store/filters.js";
import type { OutboxQuery } from "#pigeonhole/store/outbox.js";
import { inboxList } from "#pigeonhole/cli/inbox/spec.js";
import { outboxList } from "#pigeonhole/cli/outbox/spec.js";
import { OPERATOR, openDashboard } from "../dashboard/dashboard-client.js";
import { makeEvent, openReceiver, post, storeIn, tempFile, untilWork } from "../support/receiver.js";
import { jsonLines, runCli } from "../support/run-cli.js";
import { operate } from "../support/operate.js";

const OTHER = `whsec_${"b".repeat(43)}`;

interface Listed {
  items: readonly { id: string }[];
}

const idsOf = ({ items }: Listed): string[] => items.map(({ id }) => id);

/** An inbox with two events, of which each filter lists one, as each surface lists it. */
async function openSurfaces() {
  const file = tempFile();
  const clock = fakeClock(Date.now() - 10 * MINUTE);
  const store = storeIn(file);
  const receiver = openReceiver({ store, clock, secrets: { acme: TEST_SECRET, beta: OTHER } });
  receiver.on("email.sent", () => Promise.reject(new DoNotRetry("no answer")), { name: "mirror" });
  receiver.on("email.received", () => undefined, { name: "reader" });
  await receiver.start();
  const found = makeEvent({ type: "email.sent" });
  await post(receiver, found);
  await untilWork(receiver, `acme/${found.id}`, { state: "dead" }, "mirror");
  await clock.advance(5 * MINUTE);
  const other = makeEvent({ type: "email.received" });
  await post(receiver, other, { secret: OTHER });
  await untilWork(receiver, `beta/${other.id}`, { state: "done" }, "reader");

  const between = clock.now() - MINUTE;
  const operator = operate(store, clock.now());
  const [group] = (await operator.listErrorGroups()).items;
  const dashboard = openDashboard(receiver, { allow: () => ({ ...OPERATOR, payloads: "full" }) });

  return {
    found: `acme/${found.id}`,
    other: `beta/${other.id}`,
    between,
    groupId: group?.id ?? "",
    surfaces: {
      receiver: async (query: EventQuery) => idsOf(await receiver.inbox.list(query)),
      async cli(flags: readonly string[]) {
        const { stdout } = await runCli(["inbox", "list", "--json", "--db", file, ...flags]);
        return jsonLines({ stdout }).map(({ event }) => (event as { id: string }).id);
      },
      async dev(query: URLSearchParams) {
        const terms = [...query].map(([name, text]) => `work.${name}:"${text}"`).join(" ");
        const list = { kept: [], inbox: operator, limit: 9, now: clock.now() };
        return idsOf(await listDeliveries({ ...list, query: terms })).map((id) => id.replace("inbox:", ""));
      },
      dashboard: async (query: URLSearchParams) =>
        idsOf((await dashboard.get<Listed>(`api/events?${query.toString()}`)).body),
    },
  };
}

/** What fits one event and not the other; times are given as each surface takes them. */
const SAMPLES = {
  handler: () => "mirror",
  type: () => "email.sent",
  source: () => "acme",
  error: () => "NO ANSWER",
  errorGroup: ({ groupId }: { groupId: string }) => groupId,
  since: ({ between }: { between: number }) => between,
  until: ({ between }: { between: number }) => between,
} satisfies Record<keyof typeof WORK_FILTERS, unknown>;

const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

describe("the filters of the inbox", () => {
  test("each lists the same event for an app, a command, the dev page and the dashboard", async () => {
    const opened = await openSurfaces();
    const { found, other, surfaces } = opened;
    for (const name of Object.keys(WORK_FILTERS) as (keyof typeof WORK_FILTERS)[]) {
      const value = SAMPLES[name](opened);
      const text = typeof value === "number" ? new Date(value).toISOString() : value;
      const query = new URLSearchParams({ [name]: text });
      const ids = [name === "since" ? other : found];
      expect(await surfaces.receiver({ [name]: value }), name).toEqual(ids);
      expect(await surfaces.cli([flagOf(name), text]), name).toEqual(ids);
      expect(await surfaces.dev(query), name).toEqual(ids);
      expect(await surfaces.dashboard(query), name).toEqual(ids);
    }
    // A time may be an age on the pages, as on the command line.
    const query = new URLSearchParams({ since: "8m" });
    expect(await surfaces.dev(query)).toEqual([other]);
    expect(await surfaces.dashboard(query)).toEqual([other]);
  });
});

/** An outbox with two contact events, of which each filter lists one by its name, as each surface lists it. */
async function openOutbox() {
  const file = tempFile();
  const clock = fakeClock(Date.now() - 10 * MINUTE);
  const sandbox = createSandbox({ contacts: [{ email: "ada@acme.example" }] });
  onTestFinished(() => sandbox.close());
  const store = storeIn(file);
  const api = { ...sandbox.clientOptions, fetch: sandbox.fetch };
  const receiver = openReceiver({ store, clock, api });
  receiver.on("email.received", (_, ctx) => ctx.contactEvents.record({ name: "taken", email: "ada@acme.example" }));
  await receiver.start();
  await receiver.contactEvents.record({ name: "refused", contactId: "con_000000000000000000000000" }, { key: "first" });
  await clock.advance(5 * MINUTE);
  await expect.poll(async () => (await receiver.contactEvents.list({ state: "dead" })).items).toHaveLength(1);
  const event = makeEvent({ type: "email.received" });
  await post(receiver, event);
  await untilWork(receiver, event.id, { state: "done" }, "email.received");
  const operator = operate(store, clock.now());
  const dashboard = openDashboard(receiver, { allow: () => ({ ...OPERATOR, payloads: "full" }) });
  const dev = devInboxRoutes({ receiver: { inbox: operator, work: undefined }, clock });
  const devList = dev.find(({ at }) => at === "GET /api/outbox");
  const namesOf = ({ items }: { items: readonly { name: string }[] }): string[] => items.map(({ name }) => name);
  return {
    eventId: event.id,
    between: clock.now() - MINUTE,
    surfaces: {
      receiver: async (query: OutboxQuery) => namesOf(await receiver.contactEvents.list(query)),
      async cli(flags: readonly string[]) {
        const { stdout } = await runCli(["outbox", "list", "--json", "--db", file, ...flags]);
        return jsonLines({ stdout }).map(({ contactEvent }) => (contactEvent as { name: string }).name);
      },
      dev: async (query: URLSearchParams) =>
        namesOf(
          (await devList?.handle({ id: "", query, body: new BodyFields({}), person: DEVELOPER })) as {
            items: { name: string }[];
          },
        ),
      dashboard: async (query: URLSearchParams) =>
        namesOf((await dashboard.get<{ items: { name: string }[] }>(`api/outbox?${query.toString()}`)).body),
    },
  };
}

const OUTBOX_SAMPLES = {
  name: () => "refused",
  error: () => "CONTACT_NOT_FOUND",
  since: ({ between }: { between: number }) => between,
  until: ({ between }: { between: number }) => between,
  inboxEventId: ({ eventId }: { eventId: string }) => eventId,
} satisfies Record<keyof typeof CONTACT_EVENT_FILTERS, unknown>;

test("each filter of the outbox lists the same contact event on all surfaces", async () => {
  const opened = await openOutbox();
  const { surfaces } = opened;
  for (const name of Object.keys(CONTACT_EVENT_FILTERS) as (keyof typeof CONTACT_EVENT_FILTERS)[]) {
    const value = OUTBOX_SAMPLES[name](opened);
    const text = typeof value === "number" ? new Date(value).toISOString() : value;
    const query = new URLSearchParams({ [name]: text });
    const names = [name === "since" || name === "inboxEventId" ? "taken" : "refused"];
    expect(await surfaces.receiver({ [name]: value }), name).toEqual(names);
    expect(await surfaces.cli([name === "inboxEventId" ? "--event" : flagOf(name), text]), name).toEqual(names);
    expect(await surfaces.dev(query), name).toEqual(names);
    expect(await surfaces.dashboard(query), name).toEqual(names);
  }
});

test("each filter is an option of the list", () => {
  expect(Object.keys(inboxList.options)).toEqual(expect.arrayContaining(Object.keys(WORK_FILTERS)));
  const { inboxEventId: _, ...named } = CONTACT_EVENT_FILTERS;
  expect(Object.keys(outboxList.options)).toEqual(expect.arrayContaining([...Object.keys(named), "event"]));
});
