import express from "express";
import { createReceiver, DoNotRetry } from "pigeonhole";
import { pino } from "pino";
import * as z from "zod";

/** What the example app needs from outside. */
export interface AppOptions {
  /** The endpoint's secret, whole with `whsec_`. */
  secret: string;
  /** Path of the inbox's SQLite file. */
  store: string;
  /** Gets a line for each thing that a handler does. */
  print: (line: string) => void;
}

/** An Express app with one webhook endpoint. Call `receiver.start()` before it listens. */
export function createApp({ secret, store, print }: AppOptions) {
  const receiver = createReceiver({
    secrets: secret,
    store,
    schemas: { "email.bounced": z.object({ recipient: z.string() }) },
    onAlarm: (alarm) => print(`alarm: ${JSON.stringify(alarm)}`),
    logger: pino({ level: "silent" }), // leave this out to see the log
  });

  receiver.on("email.bounced", (event, ctx) =>
    // The bounce and the mark that it is done are written together: both or neither.
    ctx.commit(({ db }) => {
      db.exec("CREATE TABLE IF NOT EXISTS bounced (address TEXT PRIMARY KEY, event TEXT)");
      db.prepare("INSERT OR REPLACE INTO bounced VALUES (?, ?)").run(event.data.recipient, event.id);
      print(`email.bounced: ${event.data.recipient} is in the table "bounced"`);
    }),
  );

  receiver.on(
    ["email.opened", "email.clicked"],
    (event, ctx) => {
      if (ctx.attempt === 1) throw new Error("the statistics server is away");
      print(`${event.type}: counted on attempt ${ctx.attempt}`);
    },
    { name: "statistics", retry: { initialMs: 200 } },
  );

  receiver.on("email.complained", () => {
    throw new DoNotRetry("a person must look at this");
  });

  const app = express();
  app.post("/webhooks/mail", receiver.middleware());
  app.use(express.json());
  app.get("/health", async (_, res) => void res.json(await receiver.stats()));
  return { app, receiver };
}
