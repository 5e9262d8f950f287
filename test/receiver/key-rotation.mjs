import { readFile, rename, writeFile } from "node:fs/promises";
import { rotateApiKey } from "pigeonhole";
import { createClient } from "pigeonhole/client";

// Rotates the API key that a file holds, and is killed at one of the steps.

/** @type {{ file: string; baseUrl: string; step: string }} */
const { file, baseUrl, step } = JSON.parse(process.argv[2] ?? "{}");

/** @param {string} reached */
const killAt = (reached) => {
  if (reached === step) process.kill(process.pid, "SIGKILL");
};

const client = createClient({ apiKey: await readFile(file, "utf8"), baseUrl });
killAt("before the call");
await rotateApiKey({
  client,
  async handOver(token) {
    killAt("before the hand-over");
    await writeFile(`${file}.new`, token);
    killAt("in the hand-over");
    await rename(`${file}.new`, file);
    killAt("after the hand-over");
  },
});
killAt("at the end");
process.stdout.write("rotated");
