import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startProgram } from "../support/start-program.js";
import { fillExampleFolder } from "./example-folder.js";
import { runProgram } from "./run-example.js";

// `npm start` without its build, in a folder of its own.

const folder = mkdtempSync(join(tmpdir(), "pigeonhole-example-"));
let inbox = "";
let demo: ReturnType<typeof runProgram>;
const output = (): string => demo.output();

beforeAll(async () => {
  fillExampleFolder(folder);
  demo = runProgram(folder, "examples/start", { PORT: "0" });
  // expect.poll works inside a test only.
  await vi.waitFor(() => expect(output()).toContain("pigeonhole inbox list"), { timeout: 40_000 });
  [, inbox = ""] = /^Its inbox +(\S+)$/m.exec(output()) ?? [];
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The lines of a step; those of different speakers can change places where they do not wait for one another. */
function linesOf(title: string): string[] {
  const [, text = ""] = output().split(new RegExp(String.raw`^\d+\. ${title}$`, "m"));
  const [step = ""] = text.split(/\n\n/);
  return step
    .trim()
    .split(/\n/)
    .map((line) => line.trim().replaceAll(/ {2,}/g, " "));
}

/** The event that the service fires in a step. */
function eventOf(title: string): string {
  return /evt_\w+/.exec(linesOf(title).join("\n"))?.[0] ?? `no event in "${title}"`;
}

async function control<Row>(path: string): Promise<Row[]> {
  const [, url = ""] = /^The service, emulated +(\S+)/m.exec(output()) ?? [];
  return ((await (await fetch(`${url}/sandbox/${path}`)).json()) as { data: Row[] }).data;
}

/** How often the app's own table has each event. */
function bounces(): Record<string, number> {
  const db = new Database(inbox, { readonly: true });
  try {
    const rows = db
      .prepare<[], { event: string; times: number }>("SELECT event, count(*) AS times FROM bounces GROUP BY event")
      .all();
    return Object.fromEntries(rows.map(({ event, times }) => [event, times]));
  } finally {
    db.close();
  }
}

const BOUNCE = "A bounce comes in, and a contact event goes back";
const TWICE = "The app's answer gets lost, so the service delivers the same event again";
const FAILS = "A handler fails, and runs again";
const LOST = "The service's answer to a contact event gets lost";

test("a bounce goes from the service through a handler and returns as a contact event", () => {
  expect(linesOf(BOUNCE)).toEqual([
    expect.stringMatching(/^service fires email\.bounced evt_\w+$/),
    "app answers 200 accepted",
    expect.stringMatching(/^handler email\.bounced: \S+ is in the table "bounces"$/),
    expect.stringMatching(/^service stores the contact event address\.bounced \w+$/),
    "inbox email.bounced done after 1 run",
  ]);
});

test("a delivery whose answer is lost comes again, is answered 200 and has no second effect", async () => {
  const lines = linesOf(TWICE);
  expect(lines.filter((line) => line.startsWith("app"))).toEqual([
    "app answers 200 accepted",
    "app answers 200 duplicate",
  ]);
  expect(lines.filter((line) => line.startsWith("handler"))).toHaveLength(1);
  expect(lines.filter((line) => line.includes("stores the contact event"))).toHaveLength(1);
  expect(lines).toContain("service attempt 2 was answered 200");
  expect(lines.at(-1)).toBe("inbox email.bounced done after 1 run");
  expect(bounces()[eventOf(TWICE)]).toBe(1);
  const attempts = await control<object>(`deliveries?eventId=${eventOf(TWICE)}`);
  expect(attempts).toMatchObject([
    { attempt: 1, status: "failed", responseCode: null, fault: "lose_answer" },
    { attempt: 2, status: "delivered", responseCode: 200 },
  ]);
});

test("a handler that fails runs again, and only the run that succeeds sends its contact event", () => {
  const lines = linesOf(FAILS);
  expect(lines.filter((line) => line.startsWith("handler"))).toEqual([
    "handler statistics: run 1 fails, the statistics server is away",
    "handler statistics: email.opened is counted by run 2",
  ]);
  expect(lines.filter((line) => line.startsWith("app"))).toEqual(["app answers 200 accepted"]);
  expect(lines.filter((line) => line.includes("stores the contact event mail.read"))).toHaveLength(1);
  expect(lines.at(-1)).toBe("inbox statistics done after 2 runs");
});

test("a contact event whose answer is lost is sent again and stored once", async () => {
  const lines = linesOf(LOST);
  expect(lines).toContain("service its answer to that gets lost, and the app must ask again");
  expect(lines).toContain("service receives the same idempotency key again and stores nothing");
  const stored = await control<{ name: string; properties: { eventId: string } }>("contact-events");
  expect(stored.map(({ name, properties }) => [name, properties.eventId])).toEqual([
    ["address.bounced", eventOf(BOUNCE)],
    ["address.bounced", eventOf(TWICE)],
    ["mail.read", eventOf(FAILS)],
    ["address.bounced", eventOf(LOST)],
  ]);
});

test.each([
  ["A complaint, whose handler gives up", "200 accepted", "email.complained dead (do_not_retry) after 1 run"],
  ["A type newer than this package", "200 parked", "parked (unknown_type)"],
  ["Data that its schema refuses", "200 parked", "parked (bad_data)"],
  ["A mail that no handler asked for", "200 accepted", "stored, no handler asked for it"],
  ["A long mail", "200 accepted", "stored, no handler asked for it"],
])('the demo shows the step "%s" with the answer %s and the state %s', (title, answer, state) => {
  expect(linesOf(title)).toContain(`app answers ${answer}`);
  expect(linesOf(title).at(-1)).toBe(`inbox ${state}`);
});

test.each([
  ["A genuine signature, and one byte of the body changed", "503 unverified, send it again after 60 s"],
  ["A genuine signature of ten minutes ago", "503 unverified, send it again after 60 s"],
  ["No signature", "401 unsigned"],
])('the demo shows the step "%s" with the answer %s, and no handler runs', (title, answer) => {
  expect(linesOf(title)).toContain(`app answers ${answer}`);
  expect(linesOf(title).filter((line) => /^(handler|inbox)/.test(line))).toEqual([]);
});

test("the counts at the end are those of the app's table and of the service", () => {
  expect(bounces()).toEqual({ [eventOf(BOUNCE)]: 1, [eventOf(TWICE)]: 1, [eventOf(LOST)]: 1 });
  const [, summary = ""] = /^In the end\n((?: {3}.*\n)+)/m.exec(output()) ?? [];
  expect(summary.trim().split(/\n +/)).toEqual([
    "9 events in 10 attempts: 7 accepted, 2 parked, 1 duplicate",
    "3 deliveries of strangers: none let in",
    '3 rows in the table "bounces", of 3 events',
    "4 contact events stored by the service in 5 calls, 0 of them twice",
  ]);
});

test("the printed commands work without changes: one more delivery, shown live, that arrives twice when asked", async () => {
  const [emit = "", twice = ""] = output().match(/curl -X POST .*/g) ?? [];
  const [list = ""] = /npx pigeonhole inbox .*/.exec(output()) ?? [];
  const told = output().length;
  const run = async (command: string) =>
    (await startProgram({ command: "sh", args: ["-c", command], cwd: folder }).ended).stdout;
  expect(await run(twice)).toContain('"added":1');
  const { data } = JSON.parse(await run(emit)) as { data: [{ event: { id: string } }] };
  const { id } = data[0].event;
  const live = (): string[] =>
    output()
      .slice(told)
      .match(/answers .*/g) ?? [];
  await expect.poll(() => live().toSorted()).toEqual(["answers 200 accepted", "answers 200 duplicate"]);
  await expect.poll(() => bounces()[id]).toBe(1);
  expect(await run(list)).toMatch(new RegExp(`done .*${id}`));
});

test("the addresses that are told at the end show the story's deliveries on the page of dev, and its events on the dashboard", async () => {
  const [, page = ""] = /^ *Deliveries, .* (http\S+)$/m.exec(output()) ?? [];
  const [, dashboard = ""] = /^ *The dashboard, .* (http\S+)$/m.exec(output()) ?? [];
  const entered = await fetch(page, { redirect: "manual" });
  const [cookie = ""] = entered.headers.getSetCookie();
  const headers = { cookie: cookie.split(";")[0] ?? "" };
  const told = [BOUNCE, TWICE, FAILS, LOST].map(eventOf);
  for (const [url, init] of [
    [new URL("/api/captures", page), { headers }],
    [new URL("/api/sandbox", page), { headers }],
    [new URL("api/events", dashboard), {}],
  ] as const) {
    const text = await (await fetch(url, init)).text();
    expect(told.filter((id) => !text.includes(id))).toEqual([]);
  }
});

test("the output contains neither the secret nor the API key", () => {
  expect(output()).not.toMatch(/whsec_|svc_live_/);
});

test("Ctrl-C lets running work end and ends with 0", async () => {
  expect(await demo.stop("SIGINT")).toBe(0);
  expect(output()).toContain("Stopped.");
});

test("the inbox is in a temporary folder, which is gone after the end, and not in the checkout", () => {
  expect([inbox.startsWith(tmpdir()), existsSync(dirname(inbox))]).toEqual([true, false]);
  expect(readdirSync(folder).filter((name) => name.includes(".db"))).toEqual([]);
});
