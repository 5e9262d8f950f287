import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "pigeonhole";
import { startSandboxServer } from "pigeonhole/sandbox";
import { sampleEvent } from "pigeonhole/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { closeServer, listen } from "../support/listen.js";
import { startCli } from "../support/start-cli.js";
import { makeExampleFolder } from "./example-folder.js";
import { readDocument } from "./markdown.js";
import { ENV, postSigned, startListening } from "./run-example.js";

// The commands of the pages about operations do what they say; those of the README are in test/smoke/readme.test.ts.

const guide = ["secrets", "operations", "data"].map((page) => readDocument(`docs/${page}.md`)).join("\n");
let folder = "";

beforeEach(() => {
  folder = makeExampleFolder();
});

/** The `npx pigeonhole` lines of the operations guide whose text holds `part`, as arguments. */
function guideLines(part: string): string[][] {
  const lines = [...guide.matchAll(/^npx pigeonhole ([^#\n]*)/gm)].map(([, line = ""]) => line.trim());
  return lines.filter((line) => line.includes(part)).map((line) => line.split(/\s+/));
}

async function runCommand(args: readonly string[], more: Record<string, string> = {}) {
  const { code, stdout, stderr } = await startCli(args, { cwd: folder, env: { ...ENV, ...more } }).ended;
  return { code, output: stdout + stderr };
}

test("the rotation and the repair of the operations guide work with a receiver that reads the file", async () => {
  const file = join(folder, "webhook-secret");
  const service = await startSandboxServer({ clock: { speed: 60 } });
  onTestFinished(() => service.close());
  const receiver = createReceiver({
    secrets: async () => [(await readFile(file, "utf8")).trim()],
    store: join(folder, "pigeonhole.db"),
    logger: silentLogger,
  });
  const server = createServer(receiver.middleware());
  const url = `http://127.0.0.1:${await listen(server)}/`;
  onTestFinished(() => closeServer(server));
  const { id, secret } = service.sandbox.endpoints.create({ url });
  writeFileSync(file, secret);
  await receiver.start();
  onTestFinished(() => receiver.stop());
  // A receiver that has just read its secret does not read it again for five seconds; one in operation has read it long
  // ago.
  await sleep(5_100);

  const api = { PIGEONHOLE_BASE_URL: service.url, PIGEONHOLE_API_KEY: service.sandbox.apiKey };
  const lines = guideLines("whe_65b8f0a2c4d6e8f001234567");
  expect(lines.map(([, name]) => name)).toEqual(["rotate-secret", "webhooks.test", "repair", "repair"]);
  for (const line of lines) {
    // The inbox is younger than two days. At a terminal the first command asks before it does it.
    const own = (word: string): string => (word.startsWith("whe_") ? id : word.replace(/^2d$/, "0s"));
    const args = [...line.map(own), "--yes"];
    const { code, output } = await runCommand(args, api);
    expect(code, output).toBe(0);
    expect(output).not.toContain("whsec_");
  }
  expect(await readFile(file, "utf8")).not.toContain(secret);
  const { event } = service.sandbox.emit("email.bounced");
  await expect.poll(async () => (await receiver.inbox.get(event.id))?.id).toBe(event.id);
});

test("the commands of the operations guide that look from outside work while the receiver runs", async () => {
  const receiver = await startListening(folder, "examples/express-minimal");
  const event = { ...sampleEvent("email.bounced"), id: "evt_1" };
  expect(await postSigned(`${receiver.url}/webhooks/mail`, event)).toEqual([200, "accepted"]);
  const lines = guideLines("").filter(([family = ""]) => ["inbox", "outbox", "doctor"].includes(family));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const own = (word: string): string =>
      word.replace("3000", String(receiver.port)).replace("score@2", "email.bounced");
    const { code, output } = await runCommand(line.map(own));
    expect(code, `${line.join(" ")}\n${output}`).toBe(0);
  }
});

test("the backup of the operations guide is made while the receiver runs, and can be restored", async () => {
  const [backup = []] = guideLines("inbox backup");
  const post = async (url: string, seed: string) =>
    (await postSigned(`${url}/webhooks/mail`, sampleEvent("email.bounced", {}, { seed })))[1];
  const receiver = await startListening(folder, "examples/express-minimal");
  expect(await post(receiver.url, "before")).toBe("accepted");
  const made = await runCommand(backup);
  expect(made.code, made.output).toBe(0);
  expect(await post(receiver.url, "after")).toBe("accepted");
  await receiver.stop("SIGKILL");

  const restore = "rm -f pigeonhole.db-wal pigeonhole.db-shm && mv inbox-backup.db pigeonhole.db";
  expect(spawnSync("sh", ["-c", restore], { cwd: folder }).status).toBe(0);
  expect(existsSync(join(folder, "pigeonhole.db-wal"))).toBe(false);
  const restored = await startListening(folder, "examples/express-minimal");
  expect(await post(restored.url, "before")).toBe("duplicate");
  expect(await post(restored.url, "after")).toBe("accepted");
});
