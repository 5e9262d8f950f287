import { defineConfig } from "vitest/config";

// Tests import the built package ("pigeonhole", "#pigeonhole/…"): what is tested is what ships, worker thread included.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "node_modules/**"],
    testTimeout: 20_000,
    typecheck: { enabled: false },
  },
});
