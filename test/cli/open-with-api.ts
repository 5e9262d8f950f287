import { join } from "node:path";
import { createReceiver, type Store } from "pigeonhole";
import type { PostgresStore } from "pigeonhole/postgres";
import { createSandbox, type SandboxOptions } from "pigeonhole/sandbox";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { makeFolder } from "../support/folder.js";
import { SECRET } from "../support/run-cli.js";
import { closeAfterTest } from "./app.js";

/**
 * A receiver with an emulated API, whose store is a new file unless another is given. `receive` starts it and delivers
 * an event to it; it returns the file and the event's id.
 */
export function openWithApi(other?: Store | PostgresStore, options?: SandboxOptions) {
  const file = join(makeFolder(), "inbox.db");
  const sandbox = createSandbox(options);
  const receiver = createReceiver({
    secrets: SECRET,
    store: (other ?? file) as Store,
    api: sandbox.clientOptions,
    logger: silentLogger,
    telemetry: false,
  });
  async function receive(): Promise<{ file: string; eventId: string }> {
    await receiver.start();
    closeAfterTest(async () => {
      await receiver.stop();
      await sandbox.close();
    });
    const event = sampleEvent("email.sent");
    await deliver(receiver, event, { secret: SECRET });
    return { file, eventId: event.id };
  }
  return { receiver, receive };
}
