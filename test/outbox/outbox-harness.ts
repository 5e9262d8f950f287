import { setTimeout as sleep } from "node:timers/promises";
import type { ContactEventInput } from "pigeonhole/client";
import type { Alarm, HandlerContext, ReceiverOptions } from "pigeonhole";
import { type FakeClock, fakeClock } from "pigeonhole/testing";
import { expect, onTestFinished } from "vitest";
import { makeEvent, openReceiver, post } from "../support/receiver.js";
import { type ContactEventService, startContactEventService } from "../support/contact-event-service.js";

const LATER = { maxAttempts: 5, initialMs: 2, factor: 1 };
/** A contact event for one address. */
export const ada = (name: string) => ({ name, email: "ada@example.com" });

/** What a test's handler does. */
export type Work = (context: HandlerContext) => void | Promise<void>;

/** The service, until the test ends. */
export async function openService(): Promise<ContactEventService> {
  const service = await startContactEventService();
  onTestFinished(() => service.close());
  return service;
}

/** The API as the receivers here are given it. */
export function apiOf({ baseUrl }: ContactEventService) {
  return { apiKey: "svc_test_outbox", baseUrl, maxRetries: 0, eventsPerMinute: 600_000 };
}

/** Of the receiver, and the service if it is not one of its own. */
type StartOptions = Partial<ReceiverOptions<Record<never, never>>> & { service?: ContactEventService };

/** A started receiver whose one handler does `work`. */
export async function start(options: StartOptions & { work?: Work } = {}) {
  const { work, service = await openService(), ...rest } = options;
  const receiver = openReceiver({ api: apiOf(service), retry: LATER, ...rest });
  receiver.on("email.sent", async (_event, context) => work?.(context));
  await receiver.start();
  const deliver = async () => {
    const event = makeEvent();
    expect((await post(receiver, event)).outcome).toBe("accepted");
    return event.id;
  };
  return { service, receiver, deliver };
}

/** {@link start} on a clock that only `turn` moves. */
export async function startOnFakeClock(work?: Work, given: StartOptions & { clock?: FakeClock } = {}) {
  const { clock = fakeClock(), ...options } = given;
  const alarms: Alarm[] = [];
  const started = await start({ clock, ...options, ...(work && { work }), onAlarm: (alarm) => alarms.push(alarm) });
  return {
    ...started,
    clock,
    alarms,
    turn: (holds: () => boolean | Promise<boolean>, stepMs?: number) => turn(clock, holds, stepMs),
  };
}

/** Of the machine, below a test's own limit. */
const MAX_TURN_MS = 25_000;

/** Lets little time pass, and what waits for sockets run, until it holds. */
export async function turn(clock: FakeClock, holds: () => boolean | Promise<boolean>, stepMs = 5): Promise<void> {
  const deadline = Date.now() + MAX_TURN_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("It never held.");
    await clock.advance(stepMs);
    await sleep(1);
  }
}

/** Records one event per name, all in one settlement and so in one batch. */
export const recordAll =
  (...events: ContactEventInput[]): Work =>
  ({ contactEvents }) => {
    for (const event of events) contactEvents.record(event);
  };
