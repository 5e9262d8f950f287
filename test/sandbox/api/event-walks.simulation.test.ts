import * as fc from "fast-check";
import { expect, test } from "vitest";
import { listAll } from "../resources/list-all.js";
import { stepsOf, walkAtRandom } from "../resources/random-walk.js";
import { openWorld } from "../resources/support.js";
import { SECOND, START } from "../support.js";
import { type Called, verdict } from "./support.js";

const FIRST = "a0@x.example";

/** An event as a plain model sees it. */
interface Recorded {
  id: string;
  contactId: string;
  name: string;
  occurredAt: number;
  sequence: number;
}

const event = fc.record({
  n: fc.nat(2),
  name: fc.constantFrom("a", "b", "B"),
  /** Seconds before now; undefined leaves the time to the service. */
  ago: fc.constantFrom(0, 5, 60, undefined),
  createContact: fc.boolean(),
});
type Sent = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

const step = fc.record({
  kind: fc.constantFrom("send", "send", "sendBatch", "list", "names", "deleteContact"),
  events: fc.array(event, { minLength: 1, maxLength: 3 }),
  key: fc.constantFrom("k1", "k2", undefined),
  filter: fc.constantFrom("a", "B", undefined),
  limit: fc.integer({ min: 1, max: 3 }),
  seconds: fc.nat(2),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** An event that a batch took. */
interface Taken {
  index: number;
  id: unknown;
  contactId: unknown;
}

/** What became of one event: its id, or the code of its refusal. */
type Outcome = { id: string; replayed: boolean } | { code: string };

const emailOf = (n: number): string => `a${n}@x.example`;

/** The calls of one walk, each compared with what the model says. */
class EventWalk {
  readonly #world = openWorld({ contacts: [{ email: FIRST }], unknownContacts: "refuse" });
  readonly #events: Recorded[] = [];
  /** Ids of the contacts by address. */
  readonly #contacts = new Map<string, string | undefined>([[FIRST, undefined]]);
  /** What was sent with an idempotency key, alone or at a position of a batch. */
  readonly #sent = new Map<string, { text: string; id: string }>();
  #now = START;

  async take(step: Step): Promise<void> {
    await this.#world.sandbox.advance(step.seconds * SECOND);
    this.#now += step.seconds * SECOND;
    const [first] = step.events;
    if (step.kind === "list") return this.#list(step);
    if (step.kind === "names") return this.#names();
    if (step.kind === "send" && first !== undefined) return this.#send(step, first);
    if (step.kind === "sendBatch") return this.#sendBatch(step);
    const email = emailOf(first?.n ?? 0);
    const { body } = await this.#world.send(`DELETE /contacts/${email}`);
    expect(body).toMatchObject({ wasSaved: this.#contacts.delete(email) });
    return undefined;
  }

  #bodyOf({ n, name, ago, createContact }: Sent): object {
    const occurredAt = ago === undefined ? {} : { occurredAt: new Date(this.#now - ago * SECOND).toISOString() };
    return { email: emailOf(n).toUpperCase(), name, createContact, ...occurredAt };
  }

  /** Compares one event with the model and records it there; `answer` has its id if it was taken. */
  #expectTaken(sent: Sent, slot: string | undefined, answer: Partial<Record<string, unknown>>): Outcome {
    const text = JSON.stringify(this.#bodyOf(sent));
    const known = slot === undefined ? undefined : this.#sent.get(slot);
    if (known?.text === text) return { id: known.id, replayed: true };
    if (known !== undefined) return { code: "idempotency_key_reuse" };
    const email = emailOf(sent.n);
    if (!this.#contacts.has(email) && !sent.createContact) return { code: "contact_not_found" };
    const [id, contactId] = [String(answer["id"]), String(answer["contactId"])];
    const owner = this.#contacts.get(email);
    if (owner !== undefined) expect(contactId).toBe(owner);
    this.#contacts.set(email, contactId);
    const occurredAt = this.#now - (sent.ago ?? 0) * SECOND;
    this.#events.push({ id, contactId, name: sent.name, occurredAt, sequence: this.#events.length });
    if (slot !== undefined) this.#sent.set(slot, { text, id });
    return { id, replayed: false };
  }

  async #send({ key }: Step, sent: Sent): Promise<void> {
    const answer = await this.#post("/events", key, this.#bodyOf(sent));
    const outcome = this.#expectTaken(sent, key === undefined ? undefined : `${key} alone`, answer.body);
    if ("code" in outcome) return expect(verdict(answer)).toContain(` ${outcome.code}`);
    return expect([answer.status, answer.body]).toEqual([
      outcome.replayed ? 200 : 201,
      expect.objectContaining(outcome),
    ]);
  }

  async #post(path: string, key: string | undefined, body: object): Promise<Called> {
    const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
    return this.#world.send(`POST ${path}`, { body, headers });
  }

  async #sendBatch({ key, events }: Step): Promise<void> {
    const { status, body } = await this.#post("/events/batch", key, { events: events.map((one) => this.#bodyOf(one)) });
    expect(status).toBe(200);
    const { accepted, failed } = body as { accepted: Taken[]; failed: { index: number; code: string }[] };
    for (const [index, one] of events.entries()) {
      const taken = accepted.find((row) => row.index === index);
      const outcome = this.#expectTaken(one, key === undefined ? undefined : `${key} ${index}`, { ...taken });
      const row = taken ?? failed.find((other) => other.index === index);
      expect(row).toMatchObject(outcome);
    }
    expect(accepted.length + failed.length).toBe(events.length);
  }

  async #list({ events: [first], filter, limit }: Step): Promise<void> {
    const email = emailOf(first?.n ?? 0);
    const path = `/contacts/${email.toUpperCase()}/events`;
    if (!this.#contacts.has(email)) {
      return expect(verdict(await this.#world.send(`GET ${path}`))).toContain("404 contact_not_found");
    }
    const rows = await listAll(this.#world, path, { limit, filters: filter === undefined ? {} : { name: filter } });
    const contactId = this.#contacts.get(email);
    const found = this.#events.filter(
      (one) => one.contactId === contactId && (filter === undefined || one.name === filter),
    );
    const latestFirst = found.toSorted((a, b) => b.occurredAt - a.occurredAt || b.sequence - a.sequence);
    return expect(rows.map(({ id }) => id)).toEqual(latestFirst.map(({ id }) => id));
  }

  async #names(): Promise<void> {
    const { body } = await this.#world.send("GET /events/names");
    const names = (body["data"] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual([...new Set(this.#events.map(({ name }) => name))].toSorted());
  }
}

test("a walk over contact events, alone and in batches, with and without keys, does what a plain list does", async () => {
  await walkAtRandom(stepsOf(step, 50), 60, async (steps) => {
    const walk = new EventWalk();
    for (const one of steps) await walk.take(one);
  });
});
