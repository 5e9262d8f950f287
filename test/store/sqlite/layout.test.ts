import { dirname } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import { BUILT_ENTRY } from "../../simulation/package-copy.js";
import { loadLayoutKit, Scene } from "./layout-scene.js";
import { SCENARIOS } from "./layout-scenarios.js";

const kit = await loadLayoutKit(dirname(BUILT_ENTRY));

describe("in a SQLite file", () => {
  for (const scenario of SCENARIOS) {
    test(scenario.name, async () => {
      const scene = new Scene(kit);
      onTestFinished(() => scene.dispose());
      await scenario.run(scene);
    });
  }
});
