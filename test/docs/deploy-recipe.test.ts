import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sampleEvent } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { makeExampleFolder } from "./example-folder.js";
import { blocksOf, readDocument } from "./markdown.js";
import { postSigned, startListening } from "./run-example.js";

// The program of docs/recipes.md for deploys, as it stands there: the old version and the new one on one file.

const [program] = blocksOf(readDocument("docs/recipes.md"), "ts").filter(({ remark }) => remark === "run: deploy");

/** Starts one version, and resolves when it is ready. */
async function startVersion(folder: string) {
  const { url, output, stop } = await startListening(folder, "server", {
    DATABASE_FILE: "inbox.db",
    readyAt: "/readyz",
  });
  return {
    runs: () => output().split('"msg":"bounced"').length - 1,
    deliver: (seed: string) => postSigned(`${url}/webhooks/mail`, sampleEvent("email.bounced", {}, { seed })),
    stop,
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
});
