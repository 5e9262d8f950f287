import type { AnyEvent, EventData, EventPattern, Handler, Receiver, ReceiverOptions } from "pigeonhole";
import { type PostOptions, type Reachable, type TestEvent, makeEvent, openReceiver, post } from "./receiver.js";

/** A receiver with handlers by the types of their events, started. */
export async function startReceiver(
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
  handlers: Partial<Record<EventPattern, Handler<AnyEvent & { data: EventData }>>> = {},
): Promise<Receiver<Record<never, never>>> {
  const receiver = openReceiver(options);
  for (const [pattern, handler] of Object.entries(handlers)) receiver.on(pattern as "*", handler);
  await receiver.start();
  return receiver;
}

/** Posts an event with an id of its own. */
export async function postEvent(
  receiver: Reachable,
  fields: Partial<TestEvent> = {},
  options: PostOptions = {},
): Promise<TestEvent> {
  const event = makeEvent(fields);
  await post(receiver, event, options);
  return event;
}
