import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SECOND } from "../support.js";
import { verdict } from "../api/support.js";
import { listAll } from "./list-all.js";
import { stepsOf, walkAtRandom } from "./random-walk.js";
import { type KEYS, SUPPORT, type World, openWorld } from "./support.js";

/** A file as a plain model sees it. */
interface File {
  id: string;
  filename: string;
  contentType: string;
  size: number;
  isUpload: boolean;
  /** The address that it came to; null for an upload of the whole workspace. */
  deliveredTo: string | null;
  addedAt: number;
  sequence: number;
  /** Ids of its links, and whether they work. */
  links: Map<string, boolean>;
}

type Reader = "full" | "narrow";

const UNKNOWN = `file_${"0".repeat(24)}`;
const NAMES = ["a.txt", "B.pdf", "c.png", "d.exe", "Ä.txt"];
const TYPES = ["text/plain", "application/pdf", "image/png", "nonsense"];

const step = fc.record({
  kind: fc.constantFrom(
    "upload",
    "upload",
    "mail",
    "get",
    "delete",
    "deleteMany",
    "link",
    "revoke",
    "revokeAll",
    "list",
  ),
  by: fc.constantFrom<Reader>("full", "full", "narrow"),
  at: fc.nat(2),
  other: fc.nat(9),
  name: fc.constantFrom(...NAMES),
  type: fc.constantFrom(...TYPES),
  sort: fc.constantFrom("newest", "oldest", "largest", "name"),
  filter: fc.constantFrom<Record<string, string>>(
    {},
    { direction: "uploaded" },
    { direction: "inbound" },
    { kind: "pdf" },
    // A word this short has no close spelling.
    { q: "pd" },
    { address: SUPPORT.toUpperCase() },
  ),
  limit: fc.integer({ min: 1, max: 3 }),
  seconds: fc.nat(1),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const sees = (file: File, by: keyof typeof KEYS): boolean => by === "full" || file.deliveredTo === SUPPORT;
const worksOf = ({ links }: File): number => [...links.values()].filter(Boolean).length;
const usageOf = (file: File): string | null => (file.isUpload ? (worksOf(file) > 0 ? "linked" : null) : "received");

const FILTERS: Record<string, (file: File, value: string) => boolean> = {
  direction: ({ isUpload }, value) => isUpload === (value === "uploaded"),
  kind: ({ contentType }) => contentType === "application/pdf",
  q: ({ filename, contentType }, value) => `${filename} ${contentType}`.toLowerCase().includes(value),
  address: ({ deliveredTo }) => deliveredTo === SUPPORT,
};

const byAge = (a: File, b: File): number => a.addedAt - b.addedAt || a.sequence - b.sequence;
const foldedName = ({ filename }: File): string => filename.toLowerCase();
const ORDERS: Record<string, (a: File, b: File) => number> = {
  newest: (a, b) => byAge(b, a),
  oldest: byAge,
  largest: (a, b) => b.size - a.size || b.sequence - a.sequence,
  name: (a, b) => (foldedName(a) === foldedName(b) ? a.sequence - b.sequence : foldedName(a) < foldedName(b) ? -1 : 1),
};

/** The calls of one walk, each compared with what the model says. */
class FileWalk {
  readonly #world: World = openWorld();
  readonly #files: File[] = [];
  #now = 0;
  #sequence = 0;

  async take(step: Step): Promise<void> {
    await this.#world.sandbox.advance(step.seconds * SECOND);
    this.#now += step.seconds;
    const file = this.#files[step.at % Math.max(1, this.#files.length)];
    if (step.kind === "upload") return this.#upload(step);
    if (step.kind === "mail") return this.#mail(step);
    if (step.kind === "list") return this.#list(step);
    if (step.kind === "deleteMany") return this.#deleteMany(step);
    await this.#ofFile(step, file !== undefined && sees(file, step.by) ? file : undefined, file?.id ?? UNKNOWN);
  }

  async #upload({ name, type, by, other }: Step): Promise<void> {
    const headers = { "content-type": type };
    const body = "x".repeat(other + 1);
    const answer = await this.#world.send(`POST /files?filename=${encodeURIComponent(name)}`, {
      body,
      headers,
      key: by,
    });
    const deliveredTo = by === "narrow" ? SUPPORT : null;
    const contentType = type === "nonsense" ? "application/octet-stream" : type;
    const shown = { filename: name, contentType, size: body.length, direction: "uploaded", usage: null, deliveredTo };
    expect([answer.status, answer.body]).toEqual([201, expect.objectContaining(shown)]);
    this.#add({
      id: String(answer.body["id"]),
      filename: name,
      contentType,
      size: body.length,
      isUpload: true,
      deliveredTo,
    });
  }

  async #mail({ name, type, other, at }: Step): Promise<void> {
    const to = at % 2 === 0 ? SUPPORT : "hello@acme.example.com";
    const contentType = type === "nonsense" ? "application/octet-stream" : type;
    const attachments = [{ filename: name, contentType: type, size: other }];
    this.#world.sandbox.emit("email.received", { to: [to], messageId: `msg ${this.#sequence}`, attachments });
    const [row] = await listAll(this.#world, "/files", { limit: 1 });
    const shown = { filename: name, size: other, usage: "received", deletable: false, deliveredTo: to };
    expect(row).toEqual(expect.objectContaining(shown));
    this.#add({ id: String(row?.["id"]), filename: name, contentType, size: other, isUpload: false, deliveredTo: to });
  }

  #add(file: Omit<File, "addedAt" | "sequence" | "links">): void {
    this.#sequence += 1;
    this.#files.push({ ...file, addedAt: this.#now, sequence: this.#sequence, links: new Map() });
  }

  async #ofFile(step: Step, file: File | undefined, id: string): Promise<void> {
    const line = { get: "GET", delete: "DELETE", link: "POST", revoke: "DELETE", revokeAll: "DELETE" }[
      step.kind as string
    ];
    const links = [...(file?.links.keys() ?? [])];
    const linkId = links[step.other % Math.max(1, links.length)] ?? "shr_none";
    const tail = { link: "/links", revoke: `/links/${linkId}`, revokeAll: "/links" }[step.kind as string] ?? "";
    const init = { key: step.by, ...(step.kind === "link" ? { body: {} } : {}) };
    const answer = await this.#world.send(`${line ?? ""} /files/${id}${tail}`, init);
    if (file === undefined) return expect(verdict(answer)).toBe("404 resource_not_found");
    if (step.kind === "get") return expect(answer.body).toMatchObject(this.#shown(file));
    if (step.kind === "delete") {
      const usage = usageOf(file);
      if (usage !== null) return expect(verdict(answer)).toBe("409 file_in_use");
      expect(answer.body).toEqual({ object: "file", id, deleted: true });
      this.#files.splice(this.#files.indexOf(file), 1);
      return undefined;
    }
    if (step.kind === "revokeAll") {
      expect(answer.body).toEqual({ revoked: worksOf(file) });
      for (const link of links) file.links.set(link, false);
      return undefined;
    }
    return this.#ofLink(step, { file, linkId, answer });
  }

  #ofLink(
    step: Step,
    { file, linkId, answer }: { file: File; linkId: string; answer: Awaited<ReturnType<World["send"]>> },
  ) {
    if (step.kind === "link") {
      if (file.filename === "d.exe") return expect(verdict(answer)).toBe("422 file_unshareable");
      expect([answer.status, answer.body["revokedAt"]]).toEqual([201, null]);
      file.links.set(String(answer.body["id"]), true);
      return undefined;
    }
    if (!file.links.has(linkId)) return expect(verdict(answer)).toBe("404 resource_not_found");
    expect(answer.body).toMatchObject({ id: linkId, revokedAt: expect.any(String) as string });
    file.links.set(linkId, false);
    return undefined;
  }

  async #deleteMany({ at, other, by }: Step): Promise<void> {
    const wanted = [at, other, other].flatMap((index) => this.#files[index] ?? []);
    const ids = [...wanted.map(({ id }) => id), UNKNOWN];
    const { body } = await this.#world.send("POST /files/batch-delete", { body: { ids }, key: by });
    const chosen = [...new Set(wanted)];
    const isKept = (file: File): boolean => sees(file, by) && usageOf(file) !== null;
    const isDeleted = (file: File): boolean => sees(file, by) && usageOf(file) === null;
    const idsOf = (files: readonly File[]): string[] => files.map(({ id }) => id);
    const missing = [...idsOf(chosen.filter((file) => !sees(file, by))), UNKNOWN];
    expect(body).toMatchObject({ deleted: idsOf(chosen.filter(isDeleted)), missing });
    expect((body["kept"] as File[]).map(({ id }) => id)).toEqual(idsOf(chosen.filter(isKept)));
    for (const file of chosen.filter(isDeleted)) this.#files.splice(this.#files.indexOf(file), 1);
  }

  #shown(file: File): object {
    const { id, filename, contentType, size, deliveredTo } = file;
    const usage = usageOf(file);
    return { id, filename, contentType, size, deliveredTo, usage, deletable: usage === null };
  }

  async #list({ sort, filter, limit, by }: Step): Promise<void> {
    const rows = await listAll(this.#world, "/files", { limit, filters: { sort, ...filter }, key: by });
    const [[field, value] = ["", ""]] = Object.entries(filter);
    const listed = this.#files.filter((file) => sees(file, by) && (FILTERS[field]?.(file, value) ?? true));
    expect(rows).toMatchObject(listed.toSorted(ORDERS[sort]).map((file) => this.#shown(file)));
  }

  /** Compares everything at the end. */
  async end(limit: number): Promise<void> {
    const { body } = await this.#world.send("GET /files/stats");
    const bytes = this.#files.reduce((sum, { size }) => sum + size, 0);
    const working = this.#files.reduce((sum, file) => sum + worksOf(file), 0);
    expect(body).toMatchObject({ files: this.#files.length, bytes, links: { working } });
    for (const { id, links } of this.#files) {
      const rows = await listAll(this.#world, `/files/${id}/links`, { limit });
      expect(new Map(rows.toReversed().map((row) => [row["id"], row["revokedAt"] === null]))).toEqual(links);
    }
  }
}

test("a walk over files and their links, by a key with everything and a narrowed one, does what a plain list does", async () => {
  const walks = fc.record({ steps: stepsOf(step, 60), limit: fc.integer({ min: 1, max: 4 }) });
  await walkAtRandom(walks, 100, async ({ steps, limit }) => {
    const walk = new FileWalk();
    for (const one of steps) await walk.take(one);
    await walk.end(limit);
  });
});
