import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TEST_SECRET, sampleEvent, signDelivery } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../support/free-port.js";
import { makeExampleFolder } from "./example-folder.js";
import { blocksOf, readDocument } from "./markdown.js";

// The program of docs/recipes.md for deploys, as it stands there: the old version and the new one on one file.

const [program] = blocksOf(readDocument("docs/recipes.md"), "ts").filter(({ remark }) => remark === "run: deploy");

/** Starts one version, and resolves when it is ready. */
async function startVersion(folder: string) {
  const port = await findFreePort();
  const child = spawn(process.execPath, ["--import", "tsx", "server.ts"], {
    cwd: folder,
    env: { ...process.env, WEBHOOK_SECRET: TEST_SECRET, DATABASE_FILE: "inbox.db", PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  const url = `http://127.0.0.1:${port}`;
  const readyStatus = () => fetch(`${url}/readyz`).then(({ status }) => status, String);
  await expect.poll(readyStatus, { timeout: 60_000, message: "the version is ready" }).toBe(200);
  return {
    runs: () => output.split('"msg":"bounced"').length - 1,
    async deliver(seed: string) {
      const body = JSON.stringify(sampleEvent("email.bounced", {}, { seed }));
      const headers = { ...signDelivery({ body, secret: TEST_SECRET }), "content-type": "application/json" };
      const response = await fetch(`${url}/webhooks/mail`, { method: "POST", body, headers });
      return [response.status, response.headers.get("x-pigeonhole-outcome")];
    },
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

test("the program for deploys hands over to its next version without a gap", async () => {
  const folder = makeExampleFolder();
  writeFileSync(join(folder, "server.ts"), program?.block ?? "");
  const older = await startVersion(folder);
  expect(await older.deliver("one")).toEqual([200, "accepted"]);
  await expect.poll(older.runs).toBe(1);

  const newer = await startVersion(folder);
  // The older one still runs the handlers, also of what the newer one takes.
  expect(await newer.deliver("two")).toEqual([200, "accepted"]);
  await expect.poll(older.runs).toBe(2);

  expect(await older.stop()).toBe(0);
  expect(await newer.deliver("three")).toEqual([200, "accepted"]);
  await expect.poll(newer.runs).toBe(1);
  expect(await newer.deliver("one")).toEqual([200, "duplicate"]);
  expect(await newer.stop()).toBe(0);
}, 180_000);
