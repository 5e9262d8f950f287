import { createServer } from "node:http";
import Database from "better-sqlite3";
import { Stripe } from "stripe";
import { Webhook } from "svix";
import { SECRET } from "../sample-delivery.js";
import type { ContestantContext, RunningContestant } from "./contestant.js";
import { createHookApp } from "./express-hook.js";

/** Express that does nothing with the body. */
export function startBareExpress(): RunningContestant {
  return { server: createServer(createHookApp(() => {})) };
}

/** stripe's constructEvent: verifies and parses. */
export function startStripe(): RunningContestant {
  const app = createHookApp((body, request) => {
    Stripe.webhooks.constructEvent(body, request.get("stripe-signature") ?? "", SECRET);
  });
  return { server: createServer(app) };
}

/** svix's Webhook.verify: verifies and parses. */
export function startSvix(): RunningContestant {
  const webhook = new Webhook(SECRET);
  const app = createHookApp((body, request) => {
    webhook.verify(body, {
      "svix-id": request.get("svix-id") ?? "",
      "svix-timestamp": request.get("svix-timestamp") ?? "",
      "svix-signature": request.get("svix-signature") ?? "",
    });
  });
  return { server: createServer(app) };
}

/**
 * What one writes by hand: verify, insert in one durable transaction, answer. It only stores: nothing is handled or
 * marked done.
 */
export function startOneTransaction(context: ContestantContext): RunningContestant {
  const database = new Database(context.databaseFile);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec("CREATE TABLE inbox (id TEXT PRIMARY KEY, type TEXT NOT NULL, body TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO inbox (id, type, body) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING");
  const app = createHookApp((body, request) => {
    const { id, type } = Stripe.webhooks.constructEvent(body, request.get("stripe-signature") ?? "", SECRET);
    insert.run(id, type, body.toString());
  });
  return {
    server: createServer(app),
    stop() {
      database.close();
    },
  };
}
