import { createHash } from "node:crypto";

/**
 * A call that has failed so often no longer keeps others waiting: the cause may be in its own events. With the waits
 * between tries that is after most of an hour, or later if the service asks for longer ones.
 */
export const BLOCKING_TRIES = 14;

/** Derived from the members' keys in their order, so that the same members are never sent under two keys. */
export function callKeyOf(events: readonly { key: string }[]): { kind: "single" | "batch"; key: string } {
  const [first] = events;
  if (events.length === 1 && first !== undefined) return { kind: "single", key: first.key };
  const keys = JSON.stringify(events.map(({ key }) => key));
  return { kind: "batch", key: createHash("sha256").update(keys).digest("base64url") };
}
