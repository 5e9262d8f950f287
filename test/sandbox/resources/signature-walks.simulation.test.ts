import * as fc from "fast-check";
import { expect, test } from "vitest";
import { verdict } from "../api/support.js";
import { listAll } from "./list-all.js";
import { stepsOf, walkAtRandom } from "./random-walk.js";
import { SUPPORT, type World, openWorld } from "./support.js";

const ADDRESSES = ["billing@acme.example.com", "*@acme.example.com", SUPPORT];
const FLAGS = ["isDefault", "isReplyDefault"] as const;
type Flags = { [Name in (typeof FLAGS)[number]]?: boolean | undefined };

/** A signature as a plain model sees it. */
interface Signature extends Record<(typeof FLAGS)[number], boolean> {
  id: string;
  address: string;
  name: string;
  html: string;
}

const flag = fc.constantFrom(true, false, undefined);
const step = fc.record({
  kind: fc.constantFrom("create", "create", "update", "copy", "delete", "list"),
  by: fc.constantFrom("full" as const, "full" as const, "narrow" as const),
  at: fc.nat(5),
  address: fc.constantFrom(...ADDRESSES),
  name: fc.constantFrom("Work", "WORK", "Home", "Long"),
  html: fc.constantFrom("<p>a</p>", "<p>b</p>"),
  isDefault: flag,
  isReplyDefault: flag,
  limit: fc.integer({ min: 1, max: 3 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const sees = ({ address }: { address: string }, by: Step["by"]): boolean => by === "full" || address === SUPPORT;
const flagsOf = (step: Flags): Flags =>
  Object.fromEntries(FLAGS.flatMap((name) => (step[name] === undefined ? [] : [[name, step[name]]])));

/** The calls of one walk, each compared with what the model says. */
class SignatureWalk {
  readonly #world: World = openWorld();
  /** In the order of creation. */
  readonly #rows: Signature[] = [];

  async take(step: Step): Promise<void> {
    if (step.kind === "create") return this.#create(step);
    if (step.kind === "list") return this.#list(step);
    const row = this.#rows[step.at];
    const id = row?.id ?? "sig_unknown";
    const calls: Record<string, [line: string, body?: object]> = {
      update: [`PATCH /signatures/${id}`, { name: step.name, html: step.html, ...flagsOf(step) }],
      copy: [`POST /signatures/${id}/copy`, { addresses: [step.address.toUpperCase()], ...flagsOf(step) }],
      delete: [`DELETE /signatures/${id}`],
    };
    const [line, body] = calls[step.kind] ?? [""];
    const answer = await this.#world.send(line, { key: step.by, ...(body === undefined ? {} : { body }) });
    if (row === undefined || !sees(row, step.by)) return expect(verdict(answer)).toBe("404 resource_not_found");
    if (step.kind === "delete") {
      expect(answer.body).toMatchObject({ id, address: row.address, deleted: true });
      this.#rows.splice(this.#rows.indexOf(row), 1);
      return undefined;
    }
    if (step.kind === "copy") return this.#copied(step, row, answer);
    if (this.#isTaken(row.address, step.name, row))
      return expect(verdict(answer)).toBe("409 signature_name_taken name");
    Object.assign(row, { name: step.name, html: step.html });
    this.#setFlags(row, step);
    return expect(answer.body).toMatchObject(row);
  }

  #isTaken(address: string, name: string, except?: Signature): boolean {
    const isSame = (row: Signature): boolean => row.name.toLowerCase() === name.toLowerCase();
    return this.#rows.some((row) => row !== except && row.address === address && isSame(row));
  }

  /** At most one of an address has each flag. */
  #setFlags(row: Signature, flags: Flags): void {
    for (const name of FLAGS) {
      const value = flags[name];
      if (value === true) for (const other of this.#rows) if (other.address === row.address) other[name] = false;
      if (value !== undefined) row[name] = value;
    }
  }

  #add(made: Pick<Signature, "id" | "address" | "name" | "html">, flags: Flags): Signature {
    const isFirst = this.#rows.every(({ address }) => address !== made.address);
    const row = { ...made, isDefault: false, isReplyDefault: false };
    this.#rows.push(row);
    this.#setFlags(row, { isDefault: isFirst, isReplyDefault: isFirst, ...flagsOf(flags) });
    return row;
  }

  async #create(step: Step): Promise<void> {
    const { address, name, html, by } = step;
    const body = { address: address.toUpperCase(), name: ` ${name} `, html, ...flagsOf(step) };
    const answer = await this.#world.send("POST /signatures", { key: by, body });
    if (!sees({ address }, by)) return expect(verdict(answer)).toBe("422 capability_unsupported address");
    if (this.#isTaken(address, name)) return expect(verdict(answer)).toBe("409 signature_name_taken name");
    const row = this.#add({ id: String(answer.body["id"]), address, name, html }, step);
    return expect([answer.status, answer.body]).toEqual([201, expect.objectContaining(row)]);
  }

  #copied(step: Step, source: Signature, answer: Awaited<ReturnType<World["send"]>>): void {
    const { address, by } = step;
    if (!sees({ address }, by)) return expect(verdict(answer)).toBe("422 capability_unsupported addresses");
    const data = answer.body["data"] as Signature[];
    if (address === source.address) return expect(data).toEqual([]);
    const { name, html } = source;
    const known = this.#rows.find((row) => row.address === address && row.name.toLowerCase() === name.toLowerCase());
    if (known === undefined) this.#add({ id: data[0]?.id ?? "", address, name, html }, step);
    else {
      known.html = html;
      this.#setFlags(known, step);
    }
    return expect(data).toMatchObject([known ?? this.#rows.at(-1)]);
  }

  async #list({ by, limit, at, address }: Step): Promise<void> {
    const filters: Record<string, string> = at % 2 === 0 ? { address: address.toUpperCase() } : {};
    const rows = await listAll(this.#world, "/signatures", { limit, filters, key: by });
    const found = this.#rows.filter((row) => sees(row, by) && (at % 2 === 1 || row.address === address));
    const byAddress = found.toSorted((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
    expect(rows).toMatchObject(byAddress);
  }
}

test("a walk over signatures of several addresses, their copies and defaults does what a plain list does", async () => {
  await walkAtRandom(stepsOf(step, 50), 100, async (steps) => {
    const walk = new SignatureWalk();
    for (const one of steps) await walk.take(one);
  });
});
