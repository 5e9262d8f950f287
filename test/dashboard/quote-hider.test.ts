import { createServer, get } from "node:http";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { jsonAnswer } from "#pigeonhole/web/web-answer.js";
import { LoopShare } from "#pigeonhole/dashboard/loop-share.js";
import { createNodeDashboard } from "#pigeonhole/dashboard/node-dashboard.js";
import { PersonalData } from "#pigeonhole/dashboard/personal-data.js";
import { QuoteHider, type Reader } from "#pigeonhole/dashboard/quote-hider.js";
import type { ShowTexts } from "#pigeonhole/dashboard/show-error.js";
import { closeServer, listen } from "../support/listen.js";
import { makeGate } from "../support/receiver.js";

const addressesOf = (count: number) => Array.from({ length: count }, (_, index) => `p${index}@h${7 * index}.example`);

/** Events whose errors quote bodies of many addresses; `pieces` counts the pieces of work of all that is shown. */
function startHider({ events = 12, value = addressesOf(500), quote = "no p7@h49.example of p12" } = {}) {
  const ids = Array.from({ length: events }, (_, index) => `evt_${index}`);
  const reads: string[][] = [];
  let calls = 0;
  const time = { now: () => (calls += 1), rest: () => setImmediate() };
  const quotes = new QuoteHider(new PersonalData(new Uint8Array(32)), new LoopShare(time));
  const inbox = {
    readBodies(query: { ids: readonly string[] }) {
      reads.push([...query.ids]);
      const body = Buffer.from(JSON.stringify({ id: "evt", type: "email.sent", data: value }));
      return Promise.resolve(new Map<string, Uint8Array>(query.ids.map((id) => [id, body])));
    },
  };
  const rows = ids.map((id) => ({ id, make: (show: ShowTexts) => show.error(`TypeError: ${quote}`) }));
  const { signal } = new AbortController();
  const read = (reader: Partial<Reader> = {}) => quotes.showAll(inbox, rows, { rule: "redacted", signal, ...reader });
  return { read, reads, pieces: () => calls / 2 };
}

const SHOWN = /^TypeError: no p-\w{8}@d-\w{8}\.example of p00$/;

test("errors of a list are redacted once, however many people read it how often", async () => {
  const alone = startHider();
  for (const shown of await alone.read()) expect(shown).toMatch(SHOWN);
  const together = startHider();
  const lists = await Promise.all(Array.from({ length: 6 }, () => together.read()));
  for (const shown of lists.flat()) expect(shown).toMatch(SHOWN);
  // A reader's turn in which nothing is left to do is one piece.
  expect(together.pieces()).toBeLessThanOrEqual(alone.pieces() + 5 * 12);
  const [pieces, reads] = [together.pieces(), together.reads.length];
  await together.read();
  expect([together.pieces(), together.reads.length]).toEqual([pieces, reads]);
});

test("bodies are read a few at a time, and no more once the client has gone", async () => {
  const { read, reads } = startHider();
  await read();
  expect(reads.map(({ length }) => length)).toEqual([4, 4, 4]);
  const gone = new AbortController();
  const other = startHider();
  const reading = other.read({ signal: gone.signal });
  gone.abort();
  await expect(reading).rejects.toMatchObject({ code: "client_gone" });
  expect(other.reads).toHaveLength(1);
});

test("an error that takes too long to compare with its body is hidden", async () => {
  const words = Array.from({ length: 1_000 }, (_, index) => `user${"abc".repeat(2)}${index.toString(26)}q`);
  const value = Array.from({ length: 9_000 }, (_, index) => `user${index}`);
  const { read } = startHider({ events: 1, value, quote: words.join(" ") });
  expect(await read()).toEqual(["TypeError: [hidden: too much to redact]"]);
});

test("a client that disconnects is noticed", async () => {
  const asked = makeGate();
  const gone = makeGate();
  const dashboard = createNodeDashboard(async ({ signal }) => {
    signal.addEventListener("abort", () => gone.open());
    asked.open();
    await gone.passed;
    return jsonAnswer(200, {});
  }, undefined);
  const server = createServer((req, res) => dashboard(req, res));
  onTestFinished(() => closeServer(server));
  const port = await listen(server);
  const request = get({ port, host: "127.0.0.1", path: "/api/events" });
  request.on("error", () => undefined);
  await asked.passed;
  request.destroy();
  await gone.passed;
});
