import { join } from "node:path";
import { createReceiver, type Store } from "pigeonhole";
import type { PostgresStore } from "pigeonhole/postgres";
import { createSandbox } from "pigeonhole/sandbox";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { makeFolder } from "../support/folder.js";
import { SECRET } from "../support/run-cli.js";
import { closeAfterTest } from "./app.js";

/**
 * A receiver whose handler has recorded a contact event; returns its file and the event that it was recorded for. The
 * store is a new file unless another is given.
 */
export async function recordInHandler(other?: Store | PostgresStore): Promise<{ file: string; eventId: string }> {
  const file = join(makeFolder(), "inbox.db");
  const sandbox = createSandbox();
  const receiver = createReceiver({
    secrets: SECRET,
    store: (other ?? file) as Store,
    api: sandbox.clientOptions,
    logger: silentLogger,
    telemetry: false,
  });
  receiver.on("email.sent", (_event, ctx) => ctx.contactEvents.record({ name: "greeted", email: "ann@example.com" }));
  await receiver.start();
  closeAfterTest(async () => {
    await receiver.stop();
    await sandbox.close();
  });
  const event = sampleEvent("email.sent");
  await deliver(receiver, event, { secret: SECRET });
  return { file, eventId: event.id };
}
