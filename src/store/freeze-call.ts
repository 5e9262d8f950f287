import { createHash } from "node:crypto";

/** The longest run from the front that may share a call: what occurred before `aloneBefore` is sent alone. */
export function takeTogether<Event extends { occurredAt: number }>(
  waiting: readonly Event[],
  aloneBefore: number,
): readonly Event[] {
  const firstOld = waiting.findIndex(({ occurredAt }) => occurredAt < aloneBefore);
  if (firstOld === -1) return waiting;
  return waiting.slice(0, Math.max(1, firstOld));
}

/** Derived from the members' keys in their order, so that the same members are never sent under two keys. */
export function callKeyOf(events: readonly { key: string }[]): { kind: "single" | "batch"; key: string } {
  const [first] = events;
  if (events.length === 1 && first !== undefined) return { kind: "single", key: first.key };
  const keys = JSON.stringify(events.map(({ key }) => key));
  return { kind: "batch", key: createHash("sha256").update(keys).digest("base64url") };
}
