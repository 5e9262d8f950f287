import { onTestFinished, test } from "vitest";
import * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { PostgresScene, POSTGRES_SCENARIOS } from "./scenarios.js";

describeOnPostgres((database) => {
  test.each(POSTGRES_SCENARIOS.map((scenario) => [scenario.name, scenario] as const))("%s", async (_, scenario) => {
    const scene = new PostgresScene(database, postgres);
    onTestFinished(() => scene.dispose());
    await scenario.run(scene);
  });
});
