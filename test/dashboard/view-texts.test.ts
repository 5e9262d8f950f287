import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { LoopShare } from "#pigeonhole/dashboard/loop-share.js";
import { PersonalData } from "#pigeonhole/dashboard/personal-data.js";
import { QuoteHider } from "#pigeonhole/dashboard/quote-hider.js";
import type { ShowTexts } from "#pigeonhole/dashboard/show-error.js";
import { outboxView } from "../support/outbox-view.js";

interface Rest {
  until: number;
  end: () => void;
}

/** A time in which each piece of work takes `pieceMs`, and rests pass as soon as nothing else is to do. */
function makeTime(pieceMs: number) {
  let now = 0;
  let isMoving = false;
  const rests: Rest[] = [];
  const keptAlive: number[] = [];
  const move = async (): Promise<void> => {
    isMoving = true;
    await turns();
    for (let next = earliest(rests); next !== undefined; next = earliest(rests)) {
      rests.splice(rests.indexOf(next), 1);
      now = Math.max(now, next.until);
      next.end();
      await turns();
    }
    isMoving = false;
  };
  return {
    // A piece asks for it twice.
    now: () => (now += pieceMs / 2),
    rest(ms: number, keepsAlive = true): Promise<unknown> {
      if (keepsAlive) keptAlive.push(ms);
      return new Promise<void>((end) => {
        rests.push({ until: now + ms, end });
        if (!isMoving) void move();
      });
    },
    keptAlive,
    get passed() {
      return now;
    },
  };
}

/** What works meanwhile goes on until it rests. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await setImmediate();
}

function earliest(rests: readonly Rest[]): Rest | undefined {
  return rests.toSorted((one, other) => one.until - other.until)[0];
}

const ADDRESSES = Array.from({ length: 500 }, (_, index) => `p${index}@h${7 * index}.example`);

/** Views of events whose errors quote addresses of their bodies. */
function startViews({ events = 25, pieceMs = 20, quote = "no p7@h49.example of p12", value = ADDRESSES } = {}) {
  const time = makeTime(pieceMs);
  const state = { isOver: false, fails: false };
  const reads: string[] = [];
  const inbox = {
    readBodies({ ids }: { ids: readonly string[] }) {
      if (state.fails) return Promise.reject(new Error("no store"));
      reads.push(...ids);
      const body = Buffer.from(JSON.stringify({ id: "evt", type: "email.sent", data: value }));
      return Promise.resolve(new Map<string, Uint8Array>(ids.map((id) => [id, body])));
    },
  };
  const quotes = new QuoteHider(new PersonalData(new Uint8Array(32)), new LoopShare(time), () => state.isOver);
  const { signal } = new AbortController();
  const all = Array.from({ length: events }, (_, index) => `evt_${index}`);
  const rowsOf = (ids: readonly string[]) =>
    ids.map((id) => ({ id, make: (show: ShowTexts) => show.error(`TypeError: ${quote}`) }));
  const view = async (ids = all) => {
    const glance = quotes.glance();
    const startedAt = time.passed;
    const shown = await quotes.showAll(inbox, rowsOf(ids), { rule: "redacted", signal, glance });
    return { shown, tookMs: time.passed - startedAt, isPreparing: glance.state.isPreparing === true };
  };
  const search = (ids = all) => quotes.showAll(inbox, rowsOf(ids), { rule: "redacted", signal });
  /** Looks as an open page does until all is ready. */
  const viewUntilReady = async (ids = all): Promise<string[]> => {
    for (let look = 0; look < 1_000; look += 1) {
      const { shown, isPreparing } = await view(ids);
      if (!isPreparing) return shown;
      await time.rest(1_000);
    }
    throw new Error("never ready");
  };
  return { view, viewUntilReady, search, quotes, time, state, reads, all };
}

const SHOWN = /^TypeError: no p-\w{8}@d-\w{8}\.example of p00$/;
const PREPARING = "TypeError: [hidden: being redacted, ready in a moment]";

test("a view does not wait for long work, and one after it has what was begun", async () => {
  const { view, viewUntilReady, all } = startViews();
  const first = await view();
  expect(first.isPreparing).toBe(true);
  // Each look at the time takes half a piece here.
  expect(first.tookMs).toBeLessThan(500);
  expect(first.shown).toHaveLength(all.length);
  expect(first.shown.at(-1)).toBe(PREPARING);
  for (const text of first.shown) if (text !== PREPARING) expect(text).toMatch(SHOWN);
  for (const text of await viewUntilReady()) expect(text).toMatch(SHOWN);
  expect((await view()).tookMs).toBe(0);
});

test("short work is in the first answer", async () => {
  const { view } = startViews({ pieceMs: 0.01 });
  const { shown, isPreparing } = await view();
  expect(isPreparing).toBe(false);
  for (const text of shown) expect(text).toMatch(SHOWN);
});

test("no row is redacted twice for views, however many ask how often", async () => {
  const { view, viewUntilReady, reads, all } = startViews();
  await Promise.all(Array.from({ length: 80 }, () => view()));
  await Promise.all([viewUntilReady(), viewUntilReady(all.toReversed()), viewUntilReady(all.slice(10))]);
  expect(reads.toSorted()).toEqual(all.toSorted());
});

test("rows of one view do not wait until all of another one are ready", async () => {
  const { view, viewUntilReady, time, all } = startViews({ events: 50 });
  const list = all.slice(0, 49);
  await view(list);
  const startedAt = time.passed;
  await viewUntilReady(all.slice(49));
  const waitedMs = time.passed - startedAt;
  await viewUntilReady(list);
  expect(waitedMs).toBeLessThan((time.passed - startedAt) / 4);
});

test("what no view asks for any more is left, and begun again where it ended", async () => {
  const { view, viewUntilReady, reads, time, all } = startViews();
  await view();
  await time.rest(60_000);
  const left = reads.length;
  expect(left).toBeGreaterThan(4);
  expect(left).toBeLessThan(all.length);
  await time.rest(60_000);
  expect(reads).toHaveLength(left);
  await viewUntilReady();
  // Those whose bodies were read when it was left, at most.
  expect(reads.length).toBeLessThanOrEqual(all.length + 4);
});

test("nothing is begun for a client that has gone", async () => {
  const { quotes, time, view, reads } = startViews({ events: 1 });
  const row = { id: "evt_0", make: ({ error }: ShowTexts) => error("TypeError: p7@h49.example") };
  const reader = { rule: "redacted", signal: AbortSignal.abort(), glance: quotes.glance() } as const;
  const body = Buffer.from("p7@h49.example");
  await expect(quotes.show(row, body, reader)).rejects.toMatchObject({ code: "client_gone" });
  expect(time.passed).toBeLessThan(100);
  await view();
  expect(reads).toHaveLength(1);
});

test("nothing goes on once the receiver stops, nor keeps the process alive", async () => {
  const { view, reads, state, time } = startViews();
  await view();
  const stoppedAt = time.passed;
  state.isOver = true;
  const before = reads.length;
  // The wait of the answer.
  expect(time.keptAlive).toHaveLength(1);
  for (let turn = 0; turn < 200; turn += 1) await setImmediate();
  expect(reads).toHaveLength(before);
  // The rest of the piece that was done.
  expect(time.passed - stoppedAt).toBeLessThan(200);
});

test("a search among rows that are being redacted waits for their texts", async () => {
  const { view, search } = startViews();
  const [first, found] = await Promise.all([view(), search()]);
  expect(first.isPreparing).toBe(true);
  for (const text of found) expect(text).toMatch(SHOWN);
});

test("a payload and contact events are hidden until they are ready too", async () => {
  const { quotes, time } = startViews();
  const { signal } = new AbortController();
  const body = Buffer.from(JSON.stringify({ id: "evt", type: "email.sent", data: ADDRESSES }));
  const event = { id: "evt", type: "email.sent", receivedAt: 1, body };
  const view = outboxView({
    key: "k",
    state: "dead",
    body: JSON.stringify({ name: "order_placed", properties: ADDRESSES }),
    recordedAt: 1,
    occurredAt: 1,
    attempts: 1,
    message: "no p7@h49.example",
  });
  const calls = new Map([[view.seq, { state: view.state, bodies: [view.body] }]]);
  const inbox = { readCalls: () => Promise.resolve(calls) };
  const look = async () => {
    const reader = { rule: "redacted", signal, glance: quotes.glance() } as const;
    const [row] = await quotes.contactEvents(inbox, [view], reader);
    const { kind, text } = await quotes.payload(event, reader);
    return { message: row?.message, kind, text, ...reader.glance.state };
  };
  const message = "[hidden: being redacted, ready in a moment]";
  expect(await look()).toEqual({ message, kind: "preparing", text: null, isPreparing: true });
  await time.rest(8_000);
  expect(await look()).toEqual({
    message: expect.stringMatching(/^no p-\w{8}@d-\w{8}\.example$/) as string,
    kind: "redacted",
    text: expect.stringMatching(/p-\w{8}@d-\w{8}\.example/) as string,
  });
});

test("more views than can wait are answered at once, and begin later", async () => {
  const { view, viewUntilReady, reads, all } = startViews({ events: 60, value: ADDRESSES.slice(0, 50) });
  let answered = 0;
  const views = all.map((id) => view([id]).finally(() => (answered += 1)));
  await setImmediate();
  expect(answered).toBe(10);
  await Promise.all(views);
  for (const [text] of await Promise.all(all.map((id) => viewUntilReady([id])))) expect(text).toMatch(SHOWN);
  expect(reads.toSorted()).toEqual(all.toSorted());
});

test("a store that fails fails the views that wait, and the next one begins again", async () => {
  const { view, viewUntilReady, state } = startViews();
  state.fails = true;
  await expect(view()).rejects.toThrow("no store");
  await turns();
  state.fails = false;
  for (const text of await viewUntilReady()) expect(text).toMatch(SHOWN);
});

test.each([
  [300_000, 3],
  [900_000, 1],
])("texts of %d characters are either shown or not, view after view", async (length, events) => {
  const quote = "no p7@h49.example of p12".padEnd(length, " and so on");
  const { view, viewUntilReady } = startViews({ events, pieceMs: 0.1, value: ["p7@h49.example"], quote });
  const shown = await viewUntilReady();
  const fitting = Math.floor(800_000 / length);
  for (const text of shown.slice(0, fitting))
    expect(text.slice(0, 60)).toMatch(/^TypeError: no p-\w{8}@d-\w{8}\.example of p12/);
  const others = shown.slice(fitting);
  expect(others).toEqual(others.map(() => "TypeError: [hidden: too much for one view]"));
  for (let look = 0; look < 3; look += 1) {
    const next = await view();
    expect([next.isPreparing, next.tookMs, next.shown.join() === shown.join()]).toEqual([false, 0, true]);
  }
});
