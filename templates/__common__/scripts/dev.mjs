// The app, the dev server in front of it and an emulated service, in one terminal:
//   sandbox ─▶ pigeonhole dev (captures, page) ─▶ app
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

if (existsSync(".env")) process.loadEnvFile(".env");
const { PORT = "3000", DEV_PORT = "4400", DEV_PAGE_PORT = "4401", SANDBOX_PORT = "4410" } = process.env;
const { DATABASE_FILE = "data/inbox.db" } = process.env;
const PATH = "/webhooks/mail";
const EVENT_TYPES = "{{events}}";

const pigeonhole = fileURLToPath(new URL("dist/cli/bin.js", import.meta.resolve("pigeonhole/package.json")));
const children = new Map();
const stopping = new AbortController();

/** Stops what still runs; what a child leaves behind decides the exit code. */
function stop(exitCode) {
  if (!stopping.signal.aborted) process.exitCode = exitCode;
  stopping.abort();
  for (const child of children.values()) child.kill("SIGTERM");
}

function start(name, args, { quiet }) {
  const child = spawn(process.execPath, args, { stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit" });
  children.set(name, child);
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface(stream).on("line", (line) => console.log(`${name.padEnd(7)} │ ${line}`));
  }
  child.once("exit", (code) => {
    children.delete(name);
    stop(code === null || code === 130 || code === 143 ? 0 : code);
  });
}

/** Tries until it comes true, or until everything stops. */
async function until(isTrue) {
  while (!stopping.signal.aborted && !(await isTrue())) await sleep(100);
}

function isHealthy() {
  return fetch(`http://127.0.0.1:${PORT}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop(0));

start("app", ["--watch", "--watch-preserve-output", "--import", "tsx", "src/server.ts"], { quiet: true });
await until(isHealthy);
if (!stopping.signal.aborted) {
  const to = `127.0.0.1:${PORT}${PATH}`;
  const ports = ["--port", DEV_PORT, "--page-port", DEV_PAGE_PORT];
  start("dev", [pigeonhole, "dev", "--forward-to", to, "--path", PATH, ...ports, "--inbox", DATABASE_FILE], {
    quiet: false,
  });
}
await until(() => isListening(DEV_PORT));
if (!stopping.signal.aborted) {
  const endpoint = `http://127.0.0.1:${DEV_PORT}${PATH}=${EVENT_TYPES}`;
  start("sandbox", [pigeonhole, "sandbox", "--port", SANDBOX_PORT, "--endpoint", endpoint], { quiet: true });
}
