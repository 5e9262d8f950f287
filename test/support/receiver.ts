import { setImmediate } from "node:timers/promises";
import { type Clock, type Receiver, type ReceiverOptions, type SchemaMap } from "pigeonhole";
import { type FakeClock, TEST_SECRET, createTestReceiver, signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished } from "vitest";
import { findParts } from "#pigeonhole/receiver/receiver-parts.js";
import type { HandlerView } from "#pigeonhole/store/inbox-view.js";

export { captureLog, type LogLine } from "./capture-log.js";
export { makeGate, type Gate } from "./gate.js";
export { decorateStore, effectsIn, storeIn, tempFile, tempFileWithTable } from "./store-in.js";

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
  /** Time of signing in milliseconds. @default now, by the receiver's clock */
  at?: number;
  /** Further headers. */
  headers?: Record<string, string>;
}

/** The bytes of a delivery: text and bytes as they are, anything else as JSON. */
export function bytesOf(body: unknown): Buffer<ArrayBuffer> {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

const clockOf = (receiver: Reachable): Pick<Clock, "now"> => findParts(receiver)?.options.clock ?? Date;

/** Signs and posts over the Fetch mount. */
export async function post(receiver: Reachable, body: unknown, options: PostOptions = {}): Promise<ReceivedAnswer> {
  const bytes = bytesOf(body);
  const { secret = TEST_SECRET, at = clockOf(receiver).now() } = options;
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
  await expect.poll(look).toEqual(expect.objectContaining(expected));
}
