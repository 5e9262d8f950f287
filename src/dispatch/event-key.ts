import { errorFields } from "../base/error-fields.js";
import type { Logger } from "../base/logger.js";
import type { AnyEvent } from "../protocol/event.js";
import { inboxIdOf, sourceNameOf } from "../protocol/inbox-id.js";
import type { NewestKey } from "../store/work.js";
import type { RegisteredHandler } from "./handler.js";

/**
 * The event's key, which is that of no other source. A key function that throws must not lose the event: it has no key
 * then. The function may be of JavaScript and return anything.
 */
export function keyOf(
  { name, key }: RegisteredHandler,
  event: AnyEvent,
  inboxId: string,
  logger: Logger | undefined,
): string | undefined {
  try {
    const given = key?.(event) as string | number | null | undefined;
    return given === undefined || given === null ? undefined : inboxIdOf(sourceNameOf(inboxId), String(given));
  } catch (error) {
    logger?.error({ handler: name, ...errorFields(error, false) }, "handler_queue_failed");
    return undefined;
  }
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
