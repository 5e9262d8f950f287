import { describeOnPostgres } from "../support/postgres-server.js";
import { testModels } from "./model/test-models.js";
import { postgresKind } from "./postgres-kind.js";
import { FILE_WITH_THREAD, FILE_WITHOUT_THREAD, MEMORY } from "./sqlite-kind.js";

testModels({ kind: MEMORY, numRuns: 600, maxCommands: 100 });
testModels({ kind: FILE_WITHOUT_THREAD, numRuns: 50, maxCommands: 60 });
testModels({ kind: FILE_WITH_THREAD, numRuns: 60, maxCommands: 60 });

describeOnPostgres((database) => {
  const kind = postgresKind(database);
  testModels({ kind, numRuns: 100, maxCommands: 100 });
  testModels({ kind, stores: 2, numRuns: 100, maxCommands: 100 });
  testModels({ kind, stores: 3, numRuns: 50, maxCommands: 100 });
});
