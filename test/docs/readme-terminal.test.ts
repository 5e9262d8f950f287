import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "pigeonhole";
import { startSandboxServer } from "pigeonhole/sandbox";
import { TEST_SECRET, sampleEvent, signDelivery } from "pigeonhole/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { findFreePort } from "../support/free-port.js";
import { listen } from "../support/listen.js";
import { closeServer } from "../support/listen.js";
import { makeExampleFolder } from "./example-folder.js";

// What the README shows of a terminal is what a terminal shows; and the commands of docs/operations.md do what it says.

const root = resolve(import.meta.dirname, "../..");
const bin = join(root, "dist/cli/bin.js");
const readme = readFileSync(join(root, "README.md"), "utf8");
const guide = readFileSync(join(root, "docs/operations.md"), "utf8");
let folder = "";

beforeEach(() => {
  folder = makeExampleFolder();
});

const env = { ...process.env, WEBHOOK_SECRET: TEST_SECRET, NO_COLOR: "1" };

function start(args: readonly string[], port?: number) {
  const more = port === undefined ? {} : { PORT: String(port) };
  const child: ChildProcess = spawn(process.execPath, args, { cwd: folder, env: { ...env, ...more } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += text.toString()));
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  return {
    output: () => output,
    async stop(signal: NodeJS.Signals) {
      child.kill(signal);
      await ended;
    },
  };
}

async function startExpressMinimal() {
  const port = await findFreePort();
  const receiver = start(["--import", "tsx", "examples/express-minimal.ts"], port);
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    );
  await expect.poll(isUp, { timeout: 20_000, message: "the receiver listens" }).toBe(true);
  return { port, ...receiver };
}

/**
 * Leaves what is different in every run aside: times, the token of the page, the captures' names, blanks of alignment.
 */
function normalize(text: string): string[] {
  const captures: string[] = [];
  const numberOf = (name: string): string => {
    if (!captures.includes(name)) captures.push(name);
    return `capture-${captures.indexOf(name)}`;
  };
  return text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replace(/^\d\d:\d\d:\d\d/, "00:00:00")
        .replaceAll(/\b\d+ ?ms\b/g, "1ms")
        .replace(/\?t=[\w-]+/, "?t=token")
        .replaceAll(/ +/g, " ")
        .replace(/(?<= 1ms )[0-9a-z]{6}(?= )/, numberOf)
        .trimEnd(),
    );
}

test("the two terminals of the first screen show what the commands print", async () => {
  const [shownByDev = "", shownElsewhere = ""] = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(
    ([, block = ""]) => block,
  );
  const { port } = await startExpressMinimal();
  const [devPort, pagePort] = [await findFreePort(), await findFreePort()];
  const inReadme = (text: string) =>
    text
      .replaceAll(realpathSync(folder), "/home/ada/mail")
      .replaceAll(String(port), "3000")
      .replaceAll(String(devPort), "4400")
      .replaceAll(String(pagePort), "4401");

  const [devLine = "", ...devOutput] = shownByDev.split("\n");
  const words = devLine.replace("$ npx pigeonhole ", "").replace("3000", String(port)).split(" ");
  const dev = start([bin, ...words, "--port", String(devPort), "--page-port", String(pagePort)]);
  await expect.poll(dev.output).toContain("Ready.");

  const said: string[] = [];
  const commands = [...shownElsewhere.matchAll(/^\$ npx pigeonhole (.*)$/gm)].map(([, line = ""]) => line);
  expect(commands.length).toBeGreaterThan(2);
  for (const line of commands) {
    const to = line.startsWith("trigger") ? ["--to", `http://127.0.0.1:${devPort}/webhooks/mail`] : [];
    const { stdout } = spawnSync(process.execPath, [bin, ...line.split(" "), ...to], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    said.push(`$ npx pigeonhole ${line}\n${stdout.trimEnd()}`);
  }
  expect(normalize(said.join("\n"))).toEqual(normalize(shownElsewhere));

  const expected = normalize(devOutput.join("\n"));
  await expect.poll(() => normalize(inReadme(dev.output()))).toEqual(expected);
  await dev.stop("SIGINT");
}, 60_000);

/** The `npx pigeonhole` lines of the operations guide whose text holds `part`, as arguments. */
function guideLines(part: string): string[][] {
  const lines = [...guide.matchAll(/^npx pigeonhole ([^#\n]*)/gm)].map(([, line = ""]) => line.trim());
  return lines.filter((line) => line.includes(part)).map((line) => line.split(/\s+/));
}

/** Not spawnSync: the sandbox lives in this process and has to answer meanwhile. */
async function runCommand(args: readonly string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [bin, ...args], { cwd: folder, env: { ...env, ...more } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()));
  const code = await new Promise<number | null>((done) => child.once("close", done));
  return { code, output };
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
  expect(lines.map(([, name]) => name)).toEqual(["rotate-secret", "test", "repair", "repair"]);
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
  const receiver = await startExpressMinimal();
  const body = JSON.stringify({ ...sampleEvent("email.bounced"), id: "evt_1" });
  const headers = signDelivery({ body, secret: TEST_SECRET });
  const url = `http://127.0.0.1:${receiver.port}/webhooks/mail`;
  expect((await fetch(url, { method: "POST", body, headers })).status).toBe(200);
  const lines = guideLines("").filter(([family = ""]) => ["inbox", "outbox", "doctor"].includes(family));
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const { code, output } = await runCommand(line.map((word) => word.replace("3000", String(receiver.port))));
    expect(code, `${line.join(" ")}\n${output}`).toBe(0);
  }
});

test("the backup of the operations guide is made while the receiver runs, and can be restored", async () => {
  const [backup = []] = guideLines("inbox backup");
  const post = async (port: number, seed: string) => {
    const body = JSON.stringify(sampleEvent("email.bounced", {}, { seed }));
    const headers = signDelivery({ body, secret: TEST_SECRET });
    const response = await fetch(`http://127.0.0.1:${port}/webhooks/mail`, { method: "POST", body, headers });
    return response.headers.get("x-pigeonhole-outcome");
  };
  const receiver = await startExpressMinimal();
  expect(await post(receiver.port, "before")).toBe("accepted");
  const made = await runCommand(backup);
  expect(made.code, made.output).toBe(0);
  expect(await post(receiver.port, "after")).toBe("accepted");
  await receiver.stop("SIGKILL");

  const restore = "rm -f pigeonhole.db-wal pigeonhole.db-shm && mv inbox-backup.db pigeonhole.db";
  expect(spawnSync("sh", ["-c", restore], { cwd: folder }).status).toBe(0);
  expect(existsSync(join(folder, "pigeonhole.db-wal"))).toBe(false);
  const restored = await startExpressMinimal();
  expect(await post(restored.port, "before")).toBe("duplicate");
  expect(await post(restored.port, "after")).toBe("accepted");
}, 60_000);
