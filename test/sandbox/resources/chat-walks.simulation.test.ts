import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DAY } from "#pigeonhole/base/duration.js";
import { verdict } from "../api/support.js";
import { START } from "../support.js";
import { listAll } from "./list-all.js";
import { stepsOf, walkAtRandom } from "./random-walk.js";
import { openWorld } from "./support.js";

const TITLES = ["Orders", "orders", "Árbol", "late", "ORDER 7"];
const fold = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();

/** A chat as a plain model sees it. */
interface Chat {
  id: string;
  title: string;
  day: number;
  sequence: number;
}

const given = stepsOf(fc.record({ title: fc.constantFrom(...TITLES), day: fc.nat(3) }), 8);

const step = fc.record({
  kind: fc.constantFrom("get", "rename", "rename", "delete", "list", "reset"),
  at: fc.nat(8),
  title: fc.constantFrom(...TITLES),
  sort: fc.constantFrom("newest", "oldest", "title"),
  q: fc.constantFrom("", "order", "ARBOL", "none"),
  limit: fc.integer({ min: 1, max: 3 }),
});

const byAge = (a: Chat, b: Chat): number => a.day - b.day || a.sequence - b.sequence;
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const ORDERS: Record<string, (a: Chat, b: Chat) => number> = {
  newest: (a, b) => byAge(b, a),
  oldest: byAge,
  title: (a, b) => byText(a.title.toLowerCase(), b.title.toLowerCase()) || byText(a.id, b.id),
};

const UNKNOWN = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

test("a walk over chats does what a plain list does, and a reset brings back what the options say", async () => {
  await walkAtRandom(fc.record({ initial: given, steps: stepsOf(step, 40) }), 60, async ({ initial, steps }) => {
    const timeOf = (day: number): string => new Date(START + day * DAY).toISOString();
    const world = openWorld({ chats: initial.map(({ title, day }) => ({ title, updatedAt: timeOf(day) })) });
    const ids = world.sandbox.rows("chats").map((row) => (row as { id: string }).id);
    const fresh = (): Chat[] => initial.map((chat, index) => ({ ...chat, id: ids[index] ?? "", sequence: index }));
    const shown = ({ id, title, day }: Chat): object => ({ id, title, updatedAt: timeOf(day) });
    let chats = fresh();
    for (const { kind, at, title, sort, q, limit } of steps) {
      if (kind === "reset") {
        world.sandbox.reset();
        chats = fresh();
        continue;
      }
      if (kind === "list") {
        const found = chats.filter((chat) => fold(chat.title).includes(fold(q)));
        const rows = await listAll(world, "/chats", { limit, filters: { sort, q } });
        expect(rows).toMatchObject(found.toSorted(ORDERS[sort]).map(shown));
        continue;
      }
      const chat = chats[at];
      const method = { get: "GET", rename: "PATCH", delete: "DELETE" }[kind];
      const init = kind === "rename" ? { body: { title } } : {};
      // An id is matched without case.
      const answer = await world.send(`${method} /chats/${(chat?.id ?? UNKNOWN).toUpperCase()}`, init);
      if (chat === undefined) {
        expect(verdict(answer)).toBe("404 resource_not_found");
        continue;
      }
      if (kind === "rename") chat.title = title;
      if (kind === "delete") chats.splice(at, 1);
      expect(answer.body).toMatchObject(kind === "delete" ? { id: chat.id, deleted: true } : shown(chat));
    }
  });
});
