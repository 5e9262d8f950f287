import { describe, onTestFinished, test } from "vitest";
import { BUILT_MODULES } from "../../simulation/package-copy.js";
import { loadLayoutKit, Scene } from "./layout-scene.js";
import { SCENARIOS } from "./layout-scenarios.js";

const kit = await loadLayoutKit(BUILT_MODULES);

describe("in a SQLite file", () => {
  for (const scenario of SCENARIOS) {
    test(scenario.name, async () => {
      const scene = new Scene(kit);
      onTestFinished(() => scene.dispose());
      await scenario.run(scene);
    });
  }
});
