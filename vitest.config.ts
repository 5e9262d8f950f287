import { defineConfig } from "vitest/config";

// Tests import the built package ("pigeonhole", "#pigeonhole/…"): what is tested is what ships, worker thread included.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "node_modules/**"],
    testTimeout: 20_000,
    // Most files wait for processes, disks and browsers; by default a machine of two cores runs one file at a time.
    maxWorkers: 2,
    typecheck: { enabled: false },
  },
});
