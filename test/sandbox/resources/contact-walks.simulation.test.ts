import * as fc from "fast-check";
import { expect, test } from "vitest";
import { verdict } from "../api/support.js";
import { SECOND, START } from "../support.js";
import { listAll } from "./list-all.js";
import { stepsOf, walkAtRandom } from "./random-walk.js";
import { KEYS, SUPPORT, openWorld } from "./support.js";

const AUDIENCES = ["aud_news", "aud_vip"];
const SEED = "seed@x.example";

/** A contact as a plain model sees it. */
interface Contact {
  name: string | null;
  notes: string | null;
  audiences: Set<string>;
  lastSeenAt: number | null;
}

/** An address that mail came from or went to. */
interface Correspondent {
  name: string | null;
  threads: Set<string>;
  lastAt: number;
}

const addressOf = (n: number): string => (n === 0 ? SEED : `a${n}@x.example`);
/** As people write it. */
const spelled = (n: number): string => addressOf(n).toUpperCase();

const CALLS = ["create", "create", "update", "delete", "deleteMany", "audiences", "get", "list", "people"];
const EVENTS = ["received", "sent", "signUp", "reset"];
const KINDS = [...CALLS, ...EVENTS];

const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  n: fc.nat(3),
  other: fc.nat(3),
  audiences: fc.subarray([...AUDIENCES, "aud_none"], { maxLength: 2 }),
  name: fc.constantFrom("Ada", "bob", null),
  seconds: fc.nat(1),
  sort: fc.constantFrom("recent", "name", "threads"),
  q: fc.constantFrom("", "ad", "3@"),
  limit: fc.integer({ min: 1, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const latestFirst = (a: number | null, b: number | null): number => (b ?? 0) - (a ?? 0);
const iso = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString();

/** The calls of one walk, each compared with what the model says. */
class ContactWalk {
  readonly #world = openWorld({
    contacts: [{ email: SEED, name: "Seed" }],
    audiences: AUDIENCES.map((id) => ({ id, name: id.toUpperCase() })),
    apiKeys: [{ token: KEYS.full }, { token: KEYS.none, scopes: ["contacts:read"] }],
  });
  readonly #contacts = new Map<string, Contact>();
  readonly #mail = new Map<string, Correspondent>();
  readonly #hidden = new Set<string>();
  #now = START;

  constructor() {
    this.#restart();
  }

  #restart(): void {
    for (const part of [this.#contacts, this.#mail, this.#hidden]) part.clear();
    this.#contacts.set(SEED, { name: "Seed", notes: null, audiences: new Set(), lastSeenAt: null });
  }

  async take(step: Step): Promise<void> {
    await this.#world.sandbox.advance(step.seconds * SECOND);
    this.#now += step.seconds * SECOND;
    if (step.kind === "reset") {
      this.#world.sandbox.reset();
      return this.#restart();
    }
    if (step.kind === "received" || step.kind === "sent") return this.#exchange(step);
    if (step.kind === "signUp") return this.#signUp(step);
    if (step.kind === "create") return this.#create(step);
    if (step.kind === "deleteMany") return this.#deleteMany(step);
    if (step.kind === "list") return this.#list(step);
    if (step.kind === "people") return this.#people(step);
    return this.#ofContact(step);
  }

  #exchange({ kind, n, other, name: given }: Step): void {
    const address = addressOf(n);
    const threadId = `thr_${other}`;
    const written = given === null ? spelled(n) : `"${given}" <${spelled(n)}>`;
    const data = kind === "sent" ? { to: [written], from: SUPPORT } : { from: written, to: [SUPPORT] };
    this.#world.sandbox.emit(`email.${kind}`, { ...data, threadId, cc: [], bcc: [], attachments: [] });
    const { threads = new Set<string>(), name = null } = this.#mail.get(address) ?? {};
    this.#mail.set(address, { name: given ?? name, threads: threads.add(threadId), lastAt: this.#now });
    const contact = this.#contacts.get(address);
    if (contact !== undefined) contact.lastSeenAt = this.#now;
  }

  #signUp({ n, audiences, name }: Step): void {
    const email = addressOf(n);
    this.#world.sandbox.emit("form.confirmed", { email, audienceIds: audiences, answers: { name } });
    const contact = this.#contacts.get(email) ?? this.#save(email, name, null);
    for (const id of audiences) if (id !== "aud_none") contact.audiences.add(id);
  }

  #save(email: string, name: string | null, notes: string | null): Contact {
    const contact: Contact = { name, notes, audiences: new Set(), lastSeenAt: null };
    this.#contacts.set(email, contact);
    return contact;
  }

  async #create({ n, audiences, name }: Step): Promise<void> {
    const body = {
      email: ` ${spelled(n)} `,
      audienceIds: audiences,
      ...(name === null ? {} : { name }),
      notes: `n${n}`,
    };
    const answer = await this.#world.send("POST /contacts", { body });
    if (audiences.includes("aud_none")) return expect(verdict(answer)).toBe("404 audience_not_found audienceIds");
    if (this.#contacts.has(addressOf(n))) return expect(verdict(answer)).toBe("409 contact_exists email");
    const contact = this.#save(addressOf(n), name, `n${n}`);
    for (const id of audiences) contact.audiences.add(id);
    expect([answer.status, answer.body]).toEqual([201, expect.objectContaining(this.#shown(addressOf(n)))]);
    return undefined;
  }

  #shown(email: string): object {
    const { name = null, notes = null, lastSeenAt = null, audiences } = this.#contacts.get(email) ?? {};
    const listed = { email, name, notes, lastSeenAt: iso(lastSeenAt), source: "manual" };
    const ids = AUDIENCES.filter((id) => audiences?.has(id));
    const own = ids.map((id) => expect.objectContaining({ id, builtin: null }) as object);
    return { ...listed, audiences: [expect.objectContaining({ builtin: "default" }), ...own] };
  }

  async #ofContact({ kind, n, other, audiences, name }: Step): Promise<void> {
    const email = addressOf(n);
    const path = `/contacts/${encodeURIComponent(spelled(n))}`;
    const calls: Record<string, [line: string, body?: object]> = {
      get: [`GET ${path}`],
      update: [`PATCH ${path}`, { name, notes: `n${other}` }],
      delete: [`DELETE ${path}`],
      audiences: [`PUT ${path}/audiences`, { audienceIds: audiences }],
    };
    const [line, body] = calls[kind] ?? [""];
    const answer = await this.#world.send(line, body === undefined ? {} : { body });
    const contact = this.#contacts.get(email);
    if (kind === "delete") {
      expect(answer.body).toEqual({ object: "contact", email, deleted: true, wasSaved: this.#contacts.delete(email) });
      this.#hidden.add(email);
      return undefined;
    }
    if (contact === undefined) return expect(verdict(answer)).toBe("404 contact_not_found email");
    if (kind === "audiences" && audiences.includes("aud_none")) {
      return expect(verdict(answer)).toBe("404 audience_not_found audienceIds");
    }
    if (kind === "update") Object.assign(contact, { name, notes: `n${other}` });
    if (kind === "audiences") contact.audiences = new Set(audiences);
    expect(answer.body).toMatchObject(this.#shown(email));
    return undefined;
  }

  async #deleteMany({ n, other }: Step): Promise<void> {
    const emails = [...new Set([n, other].map(addressOf))];
    const body = { addresses: [n, other, n].map(spelled) };
    const answer = await this.#world.send("POST /contacts/batch-delete", { body });
    const deleted = emails.filter((email) => this.#contacts.delete(email));
    for (const email of emails) this.#hidden.add(email);
    expect(answer.body).toEqual({ deleted, missing: emails.filter((email) => !deleted.includes(email)) });
  }

  async #list({ q, limit }: Step): Promise<void> {
    const rows = await listAll(this.#world, "/contacts", { limit, filters: { q, source: "manual" } });
    const found = [...this.#contacts].filter(([email, { name }]) => `${email} ${name ?? ""}`.toLowerCase().includes(q));
    const sorted = found.toSorted(
      ([a, one], [b, other]) => latestFirst(one.lastSeenAt, other.lastSeenAt) || byText(a, b),
    );
    expect(rows).toMatchObject(sorted.map(([email, { name, notes }]) => ({ email, name, notes })));
  }

  async #people({ q, sort, limit, other }: Step): Promise<void> {
    const seesMail = other % 2 === 0;
    const filters = { q, sort };
    const rows = await listAll(this.#world, "/people", { limit, filters, key: seesMail ? "full" : "none" });
    const emails = new Set([...this.#contacts.keys(), ...(seesMail ? this.#mail.keys() : [])]);
    const people = [...emails].flatMap((email) => {
      const contact = this.#contacts.get(email);
      if (contact === undefined && this.#hidden.has(email)) return [];
      const mail = this.#mail.get(email) ?? { name: null, threads: new Set(), lastAt: null };
      const { threads, lastAt } = mail;
      const { name, notes } = contact ?? { name: mail.name, notes: null };
      const person = { email, name, notes, saved: contact !== undefined, threads: threads.size, lastAt };
      return `${email}\n${name ?? ""}\n${notes ?? ""}`.toLowerCase().includes(q) ? [person] : [];
    });
    const orders = {
      recent: (a: Person, b: Person) => latestFirst(a.lastAt, b.lastAt),
      name: (a: Person, b: Person) => byText((a.name ?? a.email).toLowerCase(), (b.name ?? b.email).toLowerCase()),
      threads: (a: Person, b: Person) => b.threads - a.threads,
    };
    type Person = (typeof people)[number];
    const sorted = people.toSorted((a, b) => orders[sort](a, b) || byText(a.email, b.email));
    expect(rows).toMatchObject(sorted.map((person) => ({ ...person, lastAt: iso(person.lastAt) })));
  }
}

test("a walk over contacts, their audiences and people does what plain maps do", async () => {
  await walkAtRandom(stepsOf(step, 50), 60, async (steps) => {
    const walk = new ContactWalk();
    for (const one of steps) await walk.take(one);
  });
});
