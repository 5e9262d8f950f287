import { randomInt } from "node:crypto";
import { expect, test } from "vitest";
import { fromStoredText, toStoredText } from "#pigeonhole/store/postgres/sql.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { newEvent, settlements, T } from "../conformance/new-event.js";
import { acceptLeased, leasePage } from "../conformance/lease-page.js";
import { newRecord } from "../conformance/new-record.js";
import { outboxOf } from "../conformance/outbox-fixture.js";
import { openStore } from "./store-on.js";
import { operate } from "../../support/operate.js";

/** Texts that PostgreSQL refuses, and those that are stored for them. */
const TEXTS = ["\0", "a\0b", "\0\0", "\u0001", "\u0001\u0002", "\u0001\u0003", "\u0001\0", "\0\u0001\u0002", "a"];

test("a stored text has no U+0000, and is another one for each text", () => {
  const stored = TEXTS.map(toStoredText);
  expect(stored.join("")).not.toContain("\0");
  expect(new Set(stored).size).toBe(TEXTS.length);
  expect(stored.map(fromStoredText)).toEqual(TEXTS);
});

describeOnPostgres((database) => {
  test.each([
    ["U+0000", TEXTS],
    ["letters of another case", ["evt_a", "evt_A", "EVT_A"]],
    ["accents", ["evt_e", "evt_\u00e9", "evt_e\u0301"]],
    ["compatible forms", ["\ufb01", "fi", "\u212b", "\u00c5"]],
    ["spaces", ["a", "a ", " a", "a\n"]],
  ])("an id that differs only by %s is another id", async (_, ids) => {
    const store = await openStore(database);
    for (const id of ids) expect(await store.accept(newEvent(id))).toMatchObject({ kind: "stored" });
    for (const id of ids) {
      expect(await store.accept(newEvent(id))).toEqual({ kind: "duplicate", otherBytes: false });
      expect(await operate(store).getEvent(id)).toMatchObject({ id });
    }
    expect((await operate(store).listEvents({ limit: 50 })).items.map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await leasePage(store)).work.map(({ eventId }) => eventId)).toEqual(ids);
  });

  // An index over another collation can be in the wrong order, and let duplicates in, after an upgrade of the system.
  test("no order of texts in an index depends on the collation of the database", async () => {
    await openStore(database);
    const { rows } = await database.pool.query(
      `SELECT l.collname AS collation, count(*)::int > 10 AS many
       FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid, unnest(i.indcollation) AS o
         JOIN pg_collation AS l ON l.oid = o
       WHERE c.relnamespace = $1::regnamespace GROUP BY l.collname`,
      [database.schema],
    );
    expect(rows).toEqual([{ collation: "C", many: true }]);
  });

  test.each(TEXTS)("the text %j is kept as a type, a handler, a step, an error and a reason", async (text) => {
    const store = await openStore(database);
    const handler = `h${text}`;
    const lease = await acceptLeased(store, "evt_1", { type: text, work: [{ handler, leaseUntil: T }] });
    await store.saveStep(lease, text, JSON.stringify(text), T);
    expect(await store.loadSteps(lease)).toEqual({ [text]: JSON.stringify(text) });
    await store.settle({ ...settlements.parked(lease), reason: text, error: text });
    const parked = { handler, state: "parked", reason: text, error: text };
    expect(await operate(store).listEvents({ type: text, handler, error: text })).toMatchObject({
      items: [{ type: text, handlers: [parked] }],
    });
    await store.replan({ seq: lease.seq, handlers: [handler], now: T });
    expect((await leasePage(store, { handler })).work).toMatchObject([{ handler, eventId: "evt_1" }]);
  });

  test("the longest name of a step is kept beside the longest name of a handler", async () => {
    const store = await openStore(database);
    // Three bytes each, which the server cannot make shorter.
    const write = (length: number): string =>
      Array.from({ length }, () => String.fromCodePoint(0x4e00 + randomInt(0x5000))).join("");
    const [handler, name] = [write(200), write(500)];
    const lease = await acceptLeased(store, "evt_1", { work: [{ handler, leaseUntil: T }] });
    expect(await store.saveStep(lease, name, "1", T)).toBe("settled");
    expect(await store.loadSteps(lease)).toEqual({ [name]: "1" });
  });

  test("a contact event's texts are kept", async () => {
    const store = await openStore(database);
    const body = JSON.stringify({ name: "a", properties: { note: "\0\u0001" } });
    await store.record(newRecord("k\0", { body }), T);
    expect(await outboxOf(store)).toMatchObject([{ key: "k\0", body }]);
    expect(await operate(store).changeContactEvent("discard", "k\0")).toBe(1);
  });

  test("a contact event with U+0000 does not keep others from being found by their name", async () => {
    const store = await openStore(database);
    const bodyOf = (name: string, note: string): string => JSON.stringify({ name, properties: { note } });
    await store.record(newRecord("a", { body: bodyOf("opened", "\0") }), T);
    await store.record(newRecord("b", { body: bodyOf("closed", "\ud800") }), T);
    await store.record(newRecord("c", { body: bodyOf("opened\0", "") }), T);
    for (const [name, key] of [
      ["opened", "a"],
      ["closed", "b"],
      ["opened\0", "c"],
    ] as const) {
      expect(await operate(store).listContactEvents({ name })).toMatchObject({ items: [{ key }] });
    }
  });
});
