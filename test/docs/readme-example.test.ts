import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Database from "better-sqlite3";
import { TEST_SECRET, sampleEvent, signDelivery } from "pigeonhole/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { type ContactEventService, startContactEventService } from "../support/contact-event-service.js";
import { makeFolder } from "../support/folder.js";

// The program of docs/contact-events.md, as it stands there, between real deliveries and an API on this machine.

const root = resolve(import.meta.dirname, "../..");

interface Example {
  output: () => string;
  /** Delivers a bounce; resolves when it is answered. */
  bounce: (recipient: string) => Promise<{ id: string; status: number }>;
  rows: () => { state: string; code: string | null }[];
  stop: () => Promise<number | null>;
}

let service: ContactEventService;
let example: Example;

beforeEach(async () => {
  service = await startContactEventService();
  onTestFinished(() => service.close());
  example = await startExample();
}, 30_000);

function exampleText(): string {
  const page = readFileSync(join(root, "docs/contact-events.md"), "utf8");
  const [, text] = /^<!-- example: contact events -->\n```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (text === undefined) throw new Error("docs/contact-events.md has no example of contact events.");
  return text;
}

/** Runs the program in a folder of its own, with the package where `npm install` would have put it. */
async function startExample(): Promise<Example> {
  const folder = makeFolder();
  writeFileSync(join(folder, "receiver.ts"), exampleText());
  copyFileSync(join(root, "package.json"), join(folder, "package.json"));
  for (const part of ["node_modules", "dist"]) symlinkSync(join(root, part), join(folder, part));
  const port = await findFreePort();
  let output = "";
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", "receiver.ts"], {
    cwd: folder,
    env: {
      ...process.env,
      WEBHOOK_SECRET: TEST_SECRET,
      PIGEONHOLE_API_KEY: "svc_test_readme",
      PIGEONHOLE_BASE_URL: service.baseUrl,
      PORT: String(port),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += text.toString()));
  const url = `http://127.0.0.1:${port}/`;
  await expect.poll(() => isUp(url), { timeout: 20_000, message: "the example listens" }).toBe(true);
  return {
    output: () => output,
    async bounce(recipient) {
      const event = { ...sampleEvent("email.bounced", { recipient }), id: `evt_${recipient}` };
      const body = JSON.stringify(event);
      const headers = { ...signDelivery({ body, secret: TEST_SECRET }), "content-type": "application/json" };
      const { status } = await fetch(url, { method: "POST", body, headers });
      return { id: event.id, status };
    },
    rows() {
      const db = new Database(join(folder, "pigeonhole.db"), { readonly: true });
      try {
        return db
          .prepare<[], { state: string; code: string | null }>("SELECT state, code FROM outbox_event ORDER BY seq")
          .all();
      } finally {
        db.close();
      }
    },
    async stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

async function isUp(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

async function untilRows(...rows: { state: string; code: string | null }[]): Promise<void> {
  await expect.poll(() => example.rows()).toEqual(rows);
}

const DONE = { state: "done", code: null };

test("a bounce arrives twice, and one contact event is sent", async () => {
  const { id, status } = await example.bounce("ada@example.com");
  expect(status).toBe(200);
  expect((await example.bounce("ada@example.com")).status).toBe(200);
  await untilRows(DONE);
  expect(service.stored.map(({ event }) => event)).toEqual([
    expect.objectContaining({ name: "address.bounced", email: "ada@example.com", properties: { eventId: id } }),
  ]);
  expect(service.calls.map(({ authorization }) => authorization)).toEqual(["Bearer svc_test_readme"]);
  expect(await example.stop()).toBe(0);
});
