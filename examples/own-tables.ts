import "./check-node.js";
import { createServer } from "node:http";
import { count, desc } from "drizzle-orm";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import express from "express";
import { createReceiver, createSqliteStore } from "pigeonhole";
import * as z from "zod";

// Own tables in the inbox's file, through Drizzle, and a page for the team.
// WEBHOOK_SECRET=whsec_… npx tsx examples/own-tables.ts

const bounces = sqliteTable("bounces", {
  event: text().primaryKey(),
  address: text().notNull(),
  at: integer({ mode: "timestamp_ms" }).notNull(),
});

// Append; never change what has been released.
const MIGRATIONS = [
  "CREATE TABLE bounces (event TEXT PRIMARY KEY, address TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
  "CREATE INDEX bounces_by_address ON bounces (address)",
];

const store = createSqliteStore({
  file: process.env["DATABASE_FILE"] ?? "pigeonhole.db",
  setup({ db }) {
    db.exec("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY)");
    const done = Number(db.prepare("SELECT count(*) FROM migration").pluck().get());
    for (const sql of MIGRATIONS.slice(done)) {
      db.exec(sql);
      db.exec("INSERT INTO migration DEFAULT VALUES");
    }
  },
});

const receiver = createReceiver({
  secrets: process.env["WEBHOOK_SECRET"] ?? "", // the whole string with whsec_
  store,
  schemas: { "email.bounced": z.object({ recipient: z.email() }) },
});

receiver.on("email.bounced", (event, ctx) =>
  ctx.commit(({ db }) => {
    const row = { event: event.id, address: event.data.recipient, at: new Date(event.createdAt) };
    drizzle(db).insert(bounces).values(row).run();
  }),
);

const app = express();
app.post("/webhooks/mail", receiver.middleware());
app.use("/admin", (req, res, next) => {
  // Your login check belongs here: the page shows addresses.
  if (req.headers.authorization === `Bearer ${process.env["ADMIN_TOKEN"] ?? "letmein"}`) next();
  else res.sendStatus(401);
});
app.get("/admin/bounces", async (_, res) => {
  const page = store.read(({ db }) => {
    const orm = drizzle(db);
    const [total] = orm.select({ bounces: count() }).from(bounces).all();
    return { ...total, latest: orm.select().from(bounces).orderBy(desc(bounces.at)).limit(20).all() };
  });
  res.json({ ...page, inbox: await receiver.stats() });
});
app.post("/admin/retry", async (_, res) => void res.json(await receiver.inbox.retryAll({ state: "dead" })));

await receiver.start();
createServer(app).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1");
process.once("SIGTERM", () => void receiver.stop().then(() => process.exit(0)));
