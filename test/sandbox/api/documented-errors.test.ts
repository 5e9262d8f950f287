import { describe, expect, test } from "vitest";
import { API_ERROR_CODES, type ApiErrorCode } from "#pigeonhole/contract/api-error-codes.js";
import { ADA, type CallInit, EVENT, createTestApi, keyOfSome, keysWithout, rows, verdict } from "./support.js";

interface Producer {
  line: string;
  init?: CallInit;
  options?: Parameters<typeof createTestApi>[0];
  /** Sent first. */
  before?: CallInit;
}

const key = { "idempotency-key": "k" };
const badKey = { "idempotency-key": "a b" };
const list = `GET /contacts/${ADA.id}/events`;
const events = [EVENT];

/** A request for each error that the contract lists for contact events, by call, code and documented status. */
const PRODUCERS: Record<string, Producer> = {
  "contactEvents.send 400 invalid_idempotency_key": { line: "POST /events", init: { headers: badKey, body: EVENT } },
  "contactEvents.send 403 insufficient_scope": {
    line: "POST /events",
    init: { body: EVENT },
    options: { keys: keysWithout("contacts:write") },
  },
  "contactEvents.send 422 capability_unsupported": {
    line: "POST /events",
    init: { body: EVENT },
    options: { keys: keyOfSome() },
  },
  "contactEvents.send 422 unknown_parameter": { line: "POST /events", init: { body: { ...EVENT, mail: 1 } } },
  "contactEvents.send 429 event_rate_limited": {
    line: "POST /events",
    init: { body: EVENT },
    before: { body: EVENT },
    options: { eventsPerMinute: 1 },
  },
  "contactEvents.send 404 contact_not_found": {
    line: "POST /events",
    init: { body: { ...EVENT, email: "nobody@example.com" } },
  },
  "contactEvents.send 422 invalid_event": { line: "POST /events", init: { body: { ...EVENT, name: "" } } },
  "contactEvents.send 422 invalid_parameter": { line: "POST /events", init: { body: { ...EVENT, name: 5 } } },
  "contactEvents.send 422 idempotency_key_reuse": {
    line: "POST /events",
    init: { headers: key, body: EVENT },
    before: { headers: key, body: { ...EVENT, name: "other" } },
  },
  "contactEvents.sendBatch 400 invalid_idempotency_key": {
    line: "POST /events/batch",
    init: { headers: badKey, body: { events } },
  },
  "contactEvents.sendBatch 403 insufficient_scope": {
    line: "POST /events/batch",
    init: { body: { events } },
    options: { keys: keysWithout("contacts:write") },
  },
  "contactEvents.sendBatch 422 capability_unsupported": {
    line: "POST /events/batch",
    init: { body: { events } },
    options: { keys: keyOfSome() },
  },
  "contactEvents.sendBatch 422 unknown_parameter": { line: "POST /events/batch", init: { body: { events, more: 1 } } },
  "contactEvents.sendBatch 429 event_rate_limited": {
    line: "POST /events/batch",
    init: { body: { events: [EVENT, EVENT] } },
    options: { eventsPerMinute: 1 },
  },
  "contactEvents.sendBatch 422 invalid_parameter": { line: "POST /events/batch", init: { body: { events: [] } } },
  "contactEvents.names 403 insufficient_scope": {
    line: "GET /events/names",
    options: { keys: keysWithout("automations:read") },
  },
  "contactEvents.list 403 insufficient_scope": { line: list, options: { keys: keysWithout("contacts:read") } },
  "contactEvents.list 422 capability_unsupported": { line: list, options: { keys: keyOfSome() } },
  "contactEvents.list 404 contact_not_found": { line: "GET /contacts/nobody@example.com/events" },
  "contactEvents.list 400 invalid_cursor": { line: `${list}?cursor=foreign` },
  "contactEvents.list 422 invalid_parameter": { line: `${list}?limit=0` },
  "contactEvents.list 422 unknown_parameter": { line: `${list}?page=2` },
};

describe("the errors of contact events", () => {
  test("the table of tested errors has every error that the contract lists for contact events", () => {
    const documented = rows.flatMap(({ call, operation }) => operation.errors.map((code) => `${call} ${code}`));
    for (const name of Object.keys(PRODUCERS)) {
      const [, status, code = ""] = name.split(" ");
      expect(API_ERROR_CODES[code as ApiErrorCode].status, name).toContain(Number(status));
    }
    expect(Object.keys(PRODUCERS).map((name) => name.replace(/ \d+/, ""))).toEqual(
      documented.filter((name) => name.startsWith("contactEvents.")),
    );
  });

  test.each(Object.entries(PRODUCERS))(
    "the contract lists the error that the sandbox gives: %s",
    async (name, { line, init, options, before }) => {
      const { call } = createTestApi(options);
      if (before !== undefined) expect((await call(line, before)).status).toBe(201);
      const answer = await call(line, init);
      expect(name).toContain(verdict(answer).split(" ").slice(0, 2).join(" "));
      expect(answer.body["message"]).toMatch(/^[A-Z]/);
      expect(answer.status >= 400).toBe(true);
    },
  );
});
