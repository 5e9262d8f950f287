import { EVENT_TYPES } from "pigeonhole/protocol";
import { describe, expect, test } from "vitest";
import { START, openSandbox } from "./support.js";
import { sampleEvent } from "pigeonhole/testing";

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);

describe("samples with a seed", () => {
  test("samples with a seed vary in person, address and subject, and are the same in every run", () => {
    const all = (seed: number) => sampleEvent("email.sent", {}, { seed });
    expect(SEEDS.map(all)).toEqual(SEEDS.map(all));
    for (const field of ["from", "subject"] as const) {
      expect(new Set(SEEDS.map((seed) => all(seed).data[field])).size).toBeGreaterThan(2);
    }
    expect(new Set(SEEDS.map((seed) => all(seed).data.to[0])).size).toBe(7);
  });

  test("samples with a seed tell one story, whatever the type", () => {
    const sent = sampleEvent("email.sent", {}, { seed: 3 }).data;
    const clicked = sampleEvent("email.clicked", {}, { seed: 3 }).data;
    const form = sampleEvent("form.submitted", {}, { seed: 3 }).data;
    expect(clicked).toMatchObject({ messageId: sent.messageId, to: sent.to, from: sent.from, subject: sent.subject });
    expect(form.email).toBe(sent.to[0]);
  });

  test("samples contain times around their own", () => {
    const createdAt = new Date("2026-07-01T12:00:00Z");
    expect(sampleEvent("email.scheduled", {}, { createdAt }).data.scheduledAt).toBe("2026-07-02T12:00:00.000Z");
    expect(sampleEvent("email.sent", {}, { createdAt }).data.sentAt).toBe("2026-07-01T11:59:58.000Z");
  });
});

describe("the events of a sandbox", () => {
  test("events of a sandbox have unique ids and the time of the clock, and are the same in every run with one seed", async () => {
    const run = async () => {
      const sandbox = openSandbox({ seed: 9 });
      const first = EVENT_TYPES.map((type) => sandbox.emit(type).event);
      await sandbox.advance("1h");
      return [...first, ...EVENT_TYPES.map((type) => sandbox.emit(type).event)];
    };
    const events = await run();
    expect(new Set(events.map(({ id }) => id)).size).toBe(2 * EVENT_TYPES.length);
    expect(events[0]?.createdAt).toBe(new Date(START).toISOString());
    expect(events.at(-1)?.createdAt).toBe(new Date(START + 3_600_000).toISOString());
    expect(await run()).toEqual(events);
  });

  test("events of one story are about the same message", () => {
    const sandbox = openSandbox();
    const [sent, opened] = (["email.sent", "email.opened"] as const).map(
      (type) => sandbox.emit(type, {}, { story: "order 1" }).event,
    );
    expect(opened?.data["messageId"]).toBe(sent?.data["messageId"]);
    expect(opened?.id).not.toBe(sent?.id);
    expect(sandbox.emit("email.sent").event.data["messageId"]).not.toBe(sent?.data["messageId"]);
  });

  test("events can be given data and an id", () => {
    const { event } = openSandbox().emit("email.sent", { subject: "Mine" }, { id: "evt_mine" });
    expect(event).toMatchObject({ id: "evt_mine", data: { subject: "Mine", stream: "transactional" } });
  });

  test("events are about people that the sandbox has as contacts", () => {
    const sandbox = openSandbox();
    const known = new Set(sandbox.contacts.contacts.map(({ email }) => email));
    for (let index = 0; index < 30; index += 1) {
      expect(known).toContain(sandbox.emit("email.bounced").event.data["recipient"]);
    }
  });
});

test("events of a sandbox name the addresses that its options give", () => {
  const own = ["support@mine.example.com"];
  const sandbox = openSandbox({ addresses: own, domains: ["mine.example.com"] });
  expect(sandbox.emit("email.received").event.data).toMatchObject({ to: own });
  expect(sandbox.emit("email.sent").event.data).toMatchObject({ from: own[0] });
});
