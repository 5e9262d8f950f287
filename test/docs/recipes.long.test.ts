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

/** The most memory that a process ever had, in MB. */
function peakOf(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

test.skipIf(!existsSync("/proc/self/status"))(
  "examples/attachment-archive.ts keeps a file of 100 MB with at most 80 MB more memory than a small one",
  async () => {
    const { sandbox, client, pid, folder, untilDone } = await startKilledExample(RECIPES["attachment-archive"].input);
    const receive = (size: number) => sandbox.emit("email.received", { attachments: [{ filename: "a.bin", size }] });
    // Loads what the first call of the API needs.
    receive(1);
    await untilDone(1);
    const small = peakOf(pid());
    const size = 100 * 1024 * 1024;
    receive(size);
    await untilDone(2);
    const above = peakOf(pid()) - small;
    console.info(`recipes: ${above.toFixed(1)} MB above ${small.toFixed(1)} MB`);
    const [file] = (await client.files.list({ sort: "largest" })).items;
    expect(statSync(join(folder, "archive", file?.id ?? "")).size).toBe(size);
    expect(above).toBeLessThan(80);
  },
  60_000,
);
