import type { Operation } from "./operation.js";

/** How many events a call with this body counts as, against the limit of events a minute. */
export function countEvents(operation: Operation, body: Record<string, unknown> | undefined): number {
  const { events, argument = "" } = operation;
  if (events === undefined) return 0;
  const list = body?.[argument];
  return events === "each" && Array.isArray(list) ? list.length : 1;
}
