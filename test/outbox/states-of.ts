import type { OutboxView, Receiver } from "pigeonhole";
import { expect } from "vitest";
import type { ContactEventService } from "../support/contact-event-service.js";

type OutboxReader = Pick<Receiver, "contactEvents" | "stats">;

/** Oldest first. */
export async function outboxOf({ contactEvents }: OutboxReader): Promise<OutboxView[]> {
  return (await contactEvents.list({ limit: 500 })).items.toReversed();
}

export const statesOf = async (receiver: OutboxReader): Promise<string[]> =>
  (await outboxOf(receiver)).map(({ state }) => state);

export async function untilStates(receiver: OutboxReader, ...states: string[]): Promise<void> {
  await expect.poll(() => statesOf(receiver), { interval: 5 }).toEqual(states);
}

/** Names of what the service has stored, in its order. */
export const namesIn = ({ stored }: ContactEventService): string[] => stored.map(({ event }) => event.name);

/** What of each call the service remembers. */
export const callsOf = ({ calls }: ContactEventService): string[] =>
  calls.map(({ path, key, body }) => `${path} ${key} ${body}`);

/** Names in the calls that came in, call by call. */
export const namesByCall = ({ calls }: ContactEventService): string[][] =>
  calls.map(({ body }) => {
    const parsed = JSON.parse(body) as { name?: string; events?: { name: string }[] };
    return parsed.events?.map(({ name }) => name) ?? [parsed.name ?? ""];
  });

/** No event stored twice, and no key used for something else. */
export function expectOnce(service: ContactEventService, ...names: string[]): void {
  expect(namesIn(service).toSorted()).toEqual(names.toSorted());
  expect(service.refused).not.toContain("idempotency_key_reuse");
}
