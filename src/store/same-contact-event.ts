import type { ComparableOutboxEvent } from "./outbox.js";

/** Whether the body that is known under the event's key is that of the same event. */
export function isSameContactEvent({ body, isTimeGiven }: ComparableOutboxEvent, known: string): boolean {
  return body === known || (!isTimeGiven && withoutTime(body) === withoutTime(known));
}

function withoutTime(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), occurredAt: undefined });
}
