import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import express from "express";
import { createMailReceiver } from "./receiver.ts";

if (existsSync(".env")) loadEnvFile(".env");
const { WEBHOOK_SECRET: secrets, DATABASE_FILE: store = "inbox.db", PORT = "3000" } = process.env;
if (!secrets) throw new Error("WEBHOOK_SECRET is missing: set it to the endpoint's secret, as .env does.");

const receiver = createMailReceiver({ secrets, store });
await receiver.start();

const app = express();
// Before every body parser: the signature covers the raw bytes.
app.post("/webhooks/mail", receiver.middleware());
const server = app.listen(Number(PORT), "127.0.0.1");

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => {
    server.close();
    void receiver.stop().finally(() => process.exit(0));
  });
}
