import { onTestFinished, test } from "vitest";
import * as postgres from "#pigeonhole/store/postgres/postgres-store.js";
import { describeOnPostgres } from "../../support/postgres-server.js";
import { PostgresScene, POSTGRES_SCENARIOS } from "./scenarios.js";

describeOnPostgres((database) => {
  test.each(Object.entries(POSTGRES_SCENARIOS))("%s", async (_, run) => {
    const scene = new PostgresScene(database, postgres);
    onTestFinished(() => scene.dispose());
    await run(scene);
  });
});
