import { describeOnPostgres } from "../support/postgres-server.js";
import { testModels } from "./model/test-models.js";
import { postgresKind } from "./postgres-kind.js";

describeOnPostgres((database) => {
  const kind = postgresKind(database);
  testModels({ kind, numRuns: 4, maxCommands: 60 });
  testModels({ kind, stores: 2, numRuns: 4, maxCommands: 60 });
});
