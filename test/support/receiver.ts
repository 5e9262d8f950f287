import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { pino } from "pino";
import { type Clock, type Receiver, type ReceiverOptions, type SchemaMap, type Store } from "pigeonhole";
import { createSqliteStore } from "pigeonhole";
import { type FakeClock, TEST_SECRET, createTestReceiver, signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished } from "vitest";
import { makeFolder } from "./folder.js";
import type { HandlerView } from "#pigeonhole/store/inbox-view.js";

/** What of any receiver the helpers use, whatever its schemas. */
export type Stoppable = Pick<Receiver, "stop">;
export type Reachable = Pick<Receiver, "fetch">;
export type Inspectable = Pick<Receiver, "inbox">;

/** A receiver in memory that is stopped when the test ends. */
export function openReceiver<const Schemas extends SchemaMap = Record<never, never>>(
  options: Partial<ReceiverOptions<Schemas>> = {},
): Receiver<Schemas> {
  const receiver = createTestReceiver<Schemas>({ telemetry: false, ...options });
  onTestFinished(() => closeReceiver(receiver, options.clock));
  return receiver;
}

/** Stops at once, turning a fake clock as far as that needs. */
export async function closeReceiver(receiver: Stoppable, clock?: Clock): Promise<void> {
  const stopped = receiver.stop({ timeoutMs: 0 }).then(() => "stopped" as const);
  const turn = (): Promise<unknown> => (isFake(clock) ? clock.advance(0) : setImmediate());
  while ((await Promise.race([stopped, turn()])) !== "stopped");
}

function isFake(clock: Clock | undefined): clock is FakeClock {
  return clock !== undefined && "advance" in clock;
}

/** Stops a receiver at once when the test ends. */
export function stopAfterTest<R extends Stoppable>(receiver: R): R {
  onTestFinished(() => receiver.stop({ timeoutMs: 0 }));
  return receiver;
}

let ids = 0;

/** An envelope of the service; tests may put anything in it. */
export interface TestEvent {
  id: string;
  type: string;
  createdAt: string;
  data: Record<string, unknown>;
}

/** An envelope with an id of its own. */
export function makeEvent(fields: Partial<TestEvent> = {}): TestEvent {
  ids += 1;
  return { id: `evt_${ids}`, type: "email.sent", createdAt: "2026-01-01T09:00:00Z", data: {}, ...fields };
}

export interface ReceivedAnswer {
  status: number;
  outcome: string;
  headers: Headers;
  text: string;
}

export interface PostOptions {
  secret?: string;
  /** Time of signing in milliseconds. */
  at?: number;
  /** Further headers. */
  headers?: Record<string, string>;
}

/** The bytes of a delivery: text and bytes as they are, anything else as JSON. */
export function bytesOf(body: unknown): Buffer<ArrayBuffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** Signs and posts over the Fetch mount. */
export async function post(receiver: Reachable, body: unknown, options: PostOptions = {}): Promise<ReceivedAnswer> {
  const bytes = bytesOf(body);
  const { secret = TEST_SECRET, at = Date.now() } = options;
  const headers = { ...signDelivery({ body: bytes, secret, timestamp: at }), ...options.headers };
  return receiveAnswer(
    receiver.fetch(new Request("http://pigeonhole.test/", { method: "POST", body: bytes, headers })),
  );
}

export async function receiveAnswer(response: Promise<Response>): Promise<ReceivedAnswer> {
  const { status, headers } = await response;
  const text = await (await response).text();
  return { status, headers, outcome: headers.get("x-pigeonhole-outcome") ?? "", text };
}

/** A promise to be opened by hand. */
export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

export function makeGate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

/** The store in a file without its thread, which takes longer to start than most tests that are not about it. */
export const storeIn = (file: string): Store => createSqliteStore({ file, thread: false });

/** The real store with some of its methods replaced. */
export function decorateStore(over: (real: Store) => Partial<Store>, file = ":memory:"): Store {
  const real = storeIn(file);
  return { ...real, ...over(real) };
}

/** The path of a database in a folder that is removed when the test ends. */
export function tempFile(): string {
  return join(makeFolder(), "inbox.db");
}

/** A file with a table of the user's own. */
export function tempFileWithTable(): string {
  const file = tempFile();
  const db = new Database(file);
  db.exec("CREATE TABLE effect (what TEXT NOT NULL)");
  db.close();
  return file;
}

/** What the user's table holds, read by a connection of its own. */
export function effectsIn(file: string): string[] {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare<[], string>("SELECT what FROM effect ORDER BY rowid").pluck().all();
  } finally {
    db.close();
  }
}

export interface LogLine extends Record<string, unknown> {
  level: number;
  msg: string;
}

/** Pino at its most talkative, kept in memory. */
export function captureLog() {
  const lines: LogLine[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
  return { logger, lines, named: (msg: string) => lines.filter((line) => line.msg === msg) };
}

/** One handler's part of an event. */
export async function workOf(
  { inbox }: Inspectable,
  id: string,
  handler = "email.sent",
): Promise<HandlerView | undefined> {
  const event = await inbox.get(id);
  return event?.handlers.find((view) => view.handler === handler);
}

/** Waits until the handler's part of the event looks like this, while a fake clock goes on by the second. */
export async function untilWork(
  receiver: Inspectable,
  id: string,
  expected: Partial<HandlerView>,
  handler?: string,
  clock?: FakeClock,
): Promise<void> {
  const look = async (): Promise<HandlerView | undefined> => {
    await clock?.advance(1_000);
    return workOf(receiver, id, handler);
  };
  await expect.poll(look, { interval: 5 }).toEqual(expect.objectContaining(expected));
}
