import express from "express";
import { createReceiver, createSqliteStore, DoNotRetry, type ReceiverOptions } from "pigeonhole";
import { pino } from "pino";
import * as z from "zod";

/** What the example app needs from outside. */
export interface AppOptions {
  /** The endpoint's secret, whole with `whsec_`. */
  secret: string;
  /** Where contact events go. */
  api: NonNullable<ReceiverOptions["api"]>;
  /** Path of the inbox's SQLite file. */
  store: string;
  /** Gets a line for each thing that a handler does. */
  print: (who: "handler", line: string) => void;
  /** As of `createReceiver`. */
  onAlarm?: ReceiverOptions["onAlarm"];
}

const aboutRecipient = z.object({ recipient: z.email() });

/** An Express app with one webhook endpoint. Call `receiver.start()` before it listens. */
export function createApp({ secret, api, store, print, onAlarm }: AppOptions) {
  const receiver = createReceiver({
    secrets: secret,
    api,
    store: createSqliteStore({
      file: store,
      setup: ({ db }) => db.exec("CREATE TABLE IF NOT EXISTS bounces (event TEXT, address TEXT)"),
    }),
    schemas: { "email.bounced": aboutRecipient, "email.opened": aboutRecipient, "email.clicked": aboutRecipient },
    onAlarm,
    logger: pino({ level: "silent" }), // leave this out to see the log
  });

  receiver.on("email.bounced", async (event, ctx) => {
    const { recipient } = event.data;
    ctx.contactEvents.record({ name: "address.bounced", email: recipient, properties: { eventId: event.id } });
    // The row, the contact event to be sent and the mark that all is done are written together, or not at all.
    await ctx.commit(({ db }) => db.prepare("INSERT INTO bounces VALUES (?, ?)").run(event.id, recipient));
    print("handler", `email.bounced: ${recipient} is in the table "bounces"`);
  });

  receiver.on(
    ["email.opened", "email.clicked"],
    (event, ctx) => {
      if (ctx.attempt === 1) {
        print("handler", "statistics: run 1 fails, the statistics server is away");
        throw new Error("the statistics server is away");
      }
      const { recipient } = event.data;
      ctx.contactEvents.record({ name: "mail.read", email: recipient, properties: { eventId: event.id } });
      print("handler", `statistics: ${event.type} is counted by run ${ctx.attempt}`);
    },
    { name: "statistics", retry: { initialMs: 500 } },
  );

  receiver.on("email.complained", () => {
    print("handler", "email.complained: gives up, a person must look at this");
    throw new DoNotRetry("a person must look at this");
  });

  const app = express();
  app.post("/webhooks/mail", receiver.middleware());
  app.use(express.json());
  app.get("/health", async (_, res) => void res.json(await receiver.stats()));
  return { app, receiver };
}
