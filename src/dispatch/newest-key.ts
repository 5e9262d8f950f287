import type { AnyEvent } from "../protocol/event.js";
import { inboxIdOf, sourceNameOf } from "../protocol/inbox-id.js";
import type { NewestKey } from "../store/work.js";
import type { RegisteredHandler } from "./handler.js";

/**
 * The event's key, which is that of no other source. Throws what the key function throws, which may be of JavaScript
 * and return anything.
 */
export function keyOf({ key }: RegisteredHandler, event: AnyEvent, inboxId: string): string | undefined {
  const given = key?.(event) as string | number | null | undefined;
  return given === undefined || given === null ? undefined : inboxIdOf(sourceNameOf(inboxId), String(given));
}

/** By what it is found which of the events of a key is the newest; undefined where all of them run. */
export function newestKeyOf(
  { only }: RegisteredHandler,
  key: string | undefined,
  { createdAt }: AnyEvent,
): NewestKey | undefined {
  // The time has been checked; one that the engine does not read would refuse the whole event.
  return only === undefined || key === undefined ? undefined : { key, createdAt: Date.parse(createdAt) || 0 };
}

/** The same of an event that is being stored. What the key function throws is logged when the work is read. */
export function newestKeyAtAccept(
  handler: RegisteredHandler,
  { id, event }: { id: string; event: AnyEvent },
): NewestKey | undefined {
  try {
    return newestKeyOf(handler, keyOf(handler, event, id), event);
  } catch {
    return undefined;
  }
}
