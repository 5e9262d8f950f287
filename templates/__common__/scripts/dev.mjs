// The app, the dev server in front of it and an emulated service, in one terminal:
//   sandbox ─▶ pigeonhole dev (captures, page) ─▶ app ─▶ contact events, to the sandbox
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { DATABASE_FILE, DEV_PAGE_PORT, DEV_PORT, PATH, pigeonhole, PORT, SANDBOX_PORT } from "./local.mjs";

/** Of the sandbox, for this run, and for the app: contact events of this machine stay on it. */
const PIGEONHOLE_API_KEY = `svc_live_${randomBytes(24).toString("hex")}`;

const EVENT_TYPES = "{{events}}";

const children = new Map();
const stopping = new AbortController();

/** Stops what still runs; what a child leaves behind decides the exit code. */
function stop(exitCode) {
  if (!stopping.signal.aborted) process.exitCode = exitCode;
  stopping.abort();
  for (const child of children.values()) child.kill("SIGTERM");
}

function start(name, args, { quiet, env = process.env }) {
  const child = spawn(process.execPath, args, { env, stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit" });
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

/** Looked at before anything starts: what listens there already would be taken for our own. */
async function refuseTakenPorts() {
  const ports = Object.entries({ PORT, DEV_PORT, DEV_PAGE_PORT, SANDBOX_PORT });
  const checks = await Promise.all(
    ports.map(async ([name, port]) => ({ name, port, isTaken: await isListening(port) })),
  );
  const taken = checks.filter(({ isTaken }) => isTaken).map(({ name, port }) => `${port} (${name})`);
  if (taken.length === 0) return;
  console.error(
    `Taken: ${taken.join(", ")}. Does dev run already? Stop what listens there, or set other ports in .env.`,
  );
  process.exit(1);
}

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop(0));

await refuseTakenPorts();
start("app", ["--watch", "--watch-preserve-output", "--import", "tsx", "src/server.ts"], {
  quiet: true,
  env: {
    ...process.env,
    NODE_ENV: "development",
    PIGEONHOLE_BASE_URL: `http://127.0.0.1:${SANDBOX_PORT}`,
    PIGEONHOLE_API_KEY,
  },
});
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
  const api = ["--port", SANDBOX_PORT, "--api-key", "env:PIGEONHOLE_API_KEY"];
  start("sandbox", [pigeonhole, "sandbox", ...api, "--endpoint", endpoint], {
    quiet: true,
    env: { ...process.env, PIGEONHOLE_API_KEY },
  });
}
