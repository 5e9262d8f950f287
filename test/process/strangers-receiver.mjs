import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { createReceiver } from "pigeonhole";
import { silentLogger } from "#pigeonhole/base/logger.js";

// A receiver on the mount of the first argument. It prints its port, and what strangers cost it once its standard input
// ends.

const [mount, secret, bodyTimeoutMs] = process.argv.slice(2);
const receiver = createReceiver({
  secrets: secret,
  store: ":memory:",
  bodyTimeoutMs: Number(bodyTimeoutMs),
  telemetry: false,
  logger: silentLogger,
});
await receiver.start();

const MOUNTS = {
  "node:http": () => receiver.middleware(),
  listener: () => receiver.listener({ path: "/hooks", next: express() }),
  express: () => express().post("/hooks", receiver.middleware()),
  fetch: () => getRequestListener(new Hono().post("/hooks", ({ req }) => receiver.fetch(req.raw)).fetch),
};
const server = createServer(MOUNTS[mount]());
server.listen(0, "127.0.0.1", () => console.log(server.address().port));

const rss = () => process.memoryUsage().rss / 1024 / 1024;
let before;
let most = 0;
let longest = 0;
let used = process.threadCpuUsage();
setInterval(() => {
  // The time of this thread's processor, not of the clock: other processes must not count.
  const { user, system } = process.threadCpuUsage(used);
  used = process.threadCpuUsage();
  before ??= rss();
  most = Math.max(most, rss());
  longest = Math.max(longest, (user + system) / 1000);
}, 5);

process.stdin.resume().on("end", () => {
  console.log(JSON.stringify({ grownMegabytes: Math.round(most - before), blockedMs: Math.round(longest) }));
  process.exit();
});
