import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { dropAfterTest } from "../receiver/shared-nodes.js";
import { busiestSpan } from "../support/busiest-span.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent } from "../support/receiver.js";

const script = fileURLToPath(new URL("rate-receiver.mjs", import.meta.url));

describeOnPostgres((database) => {
  test.each([
    { runs: 20, events: 80 },
    { runs: 300, events: 900 },
  ])("of two processes with a rate of $runs runs a second, no second has more than a tenth more", async (given) => {
    dropAfterTest(database);
    const { url, schema } = database;
    const begun: number[][] = [[], []];
    for (const times of begun) {
      const events = Array.from({ length: given.events / 2 }, () => makeEvent());
      const args = JSON.stringify({ url, schema, events, rate: { runs: given.runs, per: "1s" } });
      const child = spawn(process.execPath, [script, args], { stdio: ["ignore", "pipe", "inherit"] });
      onTestFinished(() => void child.kill("SIGKILL"));
      createInterface(child.stdout).on("line", (line) => void times.push(Number(line)));
    }
    await expect.poll(() => begun.flat().length).toBe(given.events);
    expect(busiestSpan(begun.flat(), 1_000)).toBeLessThanOrEqual(given.runs * 1.1);
    expect(Math.min(...begun.map((times) => times.length))).toBeGreaterThan(given.events / 10);
  });
});
