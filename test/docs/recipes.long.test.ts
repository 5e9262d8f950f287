import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startKilledExample } from "./killed-example.js";
import { RECIPES, killRecipe } from "./killed-recipes.js";

test.each(Object.keys(RECIPES) as (keyof typeof RECIPES)[])(
  "examples/%s.ts has each effect once, though SIGKILL ends it between every two calls",
  async (name) => {
    await killRecipe(RECIPES[name], "all");
  },
  120_000,
);

const MB = 1024 * 1024;

/** The most memory that a process ever had, in MB. */
function peakOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

test.skipIf(!existsSync("/proc/self/status"))(
  "examples/attachment-archive.ts keeps a file of 100 MB with at most 50 MB more memory than those of 40 MB",
  async () => {
    const { sandbox, client, pid, folder, untilDone } = await startKilledExample(RECIPES["attachment-archive"].input);
    const receive = (size: number) => sandbox.emit("email.received", { attachments: [{ filename: "a.bin", size }] });
    // Loads what a call of the API needs, and fills the buffers.
    for (const count of [1, 2, 3]) {
      receive(40 * MB);
      await untilDone(count);
    }
    const before = peakOf(pid());
    receive(100 * MB);
    await untilDone(4);
    const above = peakOf(pid()) - before;
    console.info(`recipes: ${above.toFixed(1)} MB above ${before.toFixed(1)} MB`);
    const [file] = (await client.files.list({ sort: "largest" })).items;
    expect(statSync(join(folder, "archive", file?.id ?? "")).size).toBe(100 * MB);
    expect(above).toBeLessThan(50);
  },
);
