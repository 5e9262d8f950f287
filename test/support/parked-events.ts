import * as z from "zod";
import { createReceiver } from "pigeonhole";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { type ReceiverProcess, startReceiver } from "./receiver-process.js";
import { SECRET } from "./run-cli.js";

/** A type that this version of the package does not know. */
export const NEW_TYPE = "email.archived";

/** An event as a test parks it. */
export interface ToPark {
  id: string;
  type?: string;
  data?: Record<string, unknown>;
}

/**
 * A file in which an app's version before has parked these events: it has a handler for unknown types alone, and its
 * schema of email.sent refuses each data without a number of cents. Unless `isHandled`, it has no handler at all.
 */
export async function parkEvents(file: string, events: readonly ToPark[], { isHandled = true } = {}): Promise<void> {
  const receiver = createReceiver({
    secrets: SECRET,
    store: file,
    logger: silentLogger,
    telemetry: false,
    schemas: { "email.sent": z.object({ cents: z.number() }) },
  });
  if (isHandled) receiver.onUnhandled(() => undefined);
  await receiver.start();
  for (const { id, type = "email.sent", data = {} } of events) {
    const event = { ...sampleEvent("email.sent"), id, type, data };
    await deliver(receiver, event, { secret: SECRET });
  }
  await receiver.stop();
}

/** Starts the app's next version in a process of its own: for each of these types a handler, and a schema. */
export async function startNextVersion(
  file: string,
  types: readonly string[],
  { stepMs = 0 }: { stepMs?: number } = {},
): Promise<ReceiverProcess> {
  const handlers = Object.fromEntries(types.map((type) => [type, { kind: "commit" as const, types: type }]));
  const started = startReceiver({ file, port: 0, secret: SECRET, handlers, withSubject: types, stepMs });
  await started.line("ready");
  return started;
}
