import type { AnyEvent, EventData, EventPattern, Handler, HandlerOptions, Receiver, ReceiverOptions } from "pigeonhole";
import type { HandlerView } from "#pigeonhole/store/inbox-view.js";
import {
  type Inspectable,
  type PostOptions,
  type Reachable,
  type TestEvent,
  makeEvent,
  openReceiver,
  post,
  untilWork,
} from "./receiver.js";

type AnyHandler = Handler<AnyEvent & { data: EventData }>;

/** Handlers by the types of their events, with their options. */
export type Handlers = Partial<Record<EventPattern, AnyHandler | readonly [AnyHandler, HandlerOptions<AnyEvent>]>>;

/** Registers the handlers, and starts. */
export async function startWith(receiver: Receiver<Record<never, never>>, handlers: Handlers): Promise<void> {
  for (const [pattern, given] of Object.entries(handlers)) {
    const [handler, handlerOptions] = typeof given === "function" ? [given] : given;
    receiver.on(pattern as "*", handler, handlerOptions);
  }
  await receiver.start();
}

/** A receiver with handlers by the types of their events, started. */
export async function startReceiver(
  options: Partial<ReceiverOptions<Record<never, never>>> = {},
  handlers: Handlers = {},
): Promise<Receiver<Record<never, never>>> {
  const receiver = openReceiver(options);
  await startWith(receiver, handlers);
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

/** {@link postEvent}, and waits until the work of the handler looks like this: of the one of its type. */
export async function postUntil(
  receiver: Reachable & Inspectable,
  expected: Partial<HandlerView>,
  fields: Partial<TestEvent> = {},
  handler?: string,
): Promise<TestEvent> {
  const event = await postEvent(receiver, fields);
  await untilWork(receiver, event.id, expected, handler ?? event.type);
  return event;
}
