import { createReceiver, type Receiver } from "pigeonhole";

// Next.js loads this module for the route and for instrumentation.ts, and `next dev` again after every change; there is
// one receiver all the same, because two would share one file.

const global = globalThis as { mailReceiver?: Promise<Receiver> };

/** The receiver, started by the first call. A start that fails is tried again by the next. */
export function openReceiver(): Promise<Receiver> {
  global.mailReceiver ??= startReceiver().catch((error: unknown) => {
    delete global.mailReceiver;
    throw error;
  });
  return global.mailReceiver;
}

async function startReceiver(): Promise<Receiver> {
  const receiver = createReceiver({
    secrets: process.env["WEBHOOK_SECRET"] ?? "",
    store: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
  });
  receiver.on("email.*", (event, ctx) => ctx.log.info({ createdAt: event.createdAt }, "mail"), { name: "audit" });
  await receiver.start();
  return receiver;
}
