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
  // Next.js would end the process without waiting for handlers, which run again after the next start. It leaves signals
  // to the app if it is started so: NEXT_MANUAL_SIG_HANDLE=true next start. It does not read that from .env.
  if (process.env["NEXT_MANUAL_SIG_HANDLE"] !== undefined) {
    const shutDown = () => void receiver.stop().then(() => process.exit(0));
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, shutDown);
  }
  return receiver;
}
