import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { SHARED } from "../../vitest.config.js";

// The long forms: tests of `npm test` with more deaths, kills and lives, all templates and looks of the page, and kinds
// of stores whose halves it has already.
export default defineConfig({
  root: resolve(import.meta.dirname, "../.."),
  test: {
    ...SHARED,
    include: [
      "test/**/*.long.test.ts",
      "test/dev/page/axe.test.ts",
      "test/dev/page/looks.test.ts",
      "test/process/kill.test.ts",
      "test/process/slow-disk.test.ts",
      "test/process/stop.test.ts",
      "test/process/strangers.test.ts",
      "test/simulation/mutants.test.ts",
      "test/scaffold/packed.package.test.ts",
      "test/store/postgres/mutants.simulation.test.ts",
      "test/store/sqlite/death-at-statement.process.test.ts",
      "test/store/sqlite/layout-mutants.simulation.test.ts",
      "test/store/sqlite/layout-random.simulation.test.ts",
    ],
    env: {
      DEATHS: "all",
      LIVES: "100",
      MOUNTS: "all",
      MUTANTS: "all",
      PROCESS_TEST_KILLS: "20",
      SLOW_DISK_SECONDS: "12",
      STOP_ROUNDS: "7",
      TEMPLATES: "all",
      VISITS: "all",
    },
  },
});
