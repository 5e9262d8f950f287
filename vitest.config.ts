import { defineConfig } from "vitest/config";

// Tests import the built package ("pigeonhole", "#pigeonhole/…"): what is tested is what ships, worker thread included.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "node_modules/**"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // What is awaited comes at once or never; the limit is for machines that are busy with other work.
    expect: { poll: { timeout: 15_000 } },
    // Most files wait for processes, disks and browsers; by default a machine of two cores runs one file at a time.
    maxWorkers: 2,
    typecheck: { enabled: false },
  },
});
