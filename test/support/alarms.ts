import type { Alarm, ReceiverOptions } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { type Handlers, startWith } from "./start-receiver.js";
import { type PostOptions, captureLog, makeEvent, openReceiver, post } from "./receiver.js";

/** A receiver on a fake clock, not started, whose alarms and log lines are kept. */
export function openWithAlarms(options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const clock = fakeClock();
  const log = captureLog();
  const alarms: Alarm[] = [];
  const receiver = openReceiver({ clock, logger: log.logger, onAlarm: (alarm) => alarms.push(alarm), ...options });
  const deliver = async (body: unknown = makeEvent(), more: PostOptions = {}) =>
    (await post(receiver, body, { ...more })).outcome;
  return { clock, log, alarms, receiver, deliver };
}

/** The same, with handlers and started. */
export async function startWithAlarms(options: Parameters<typeof openWithAlarms>[0] = {}, handlers: Handlers = {}) {
  const opened = openWithAlarms(options);
  await startWith(opened.receiver, handlers);
  return opened;
}
