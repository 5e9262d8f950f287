import { type TestDatabase, describeOnEmbedded, describeOnPostgres } from "../support/postgres-server.js";
import { testModels } from "./model/test-models.js";
import { postgresKind } from "./postgres-kind.js";
import { FILE_WITH_THREAD, FILE_WITHOUT_THREAD, MEMORY } from "./sqlite-kind.js";

testModels({ kind: MEMORY, numRuns: 200, maxCommands: 100 });
testModels({ kind: FILE_WITHOUT_THREAD, numRuns: 20, maxCommands: 60 });
testModels({ kind: FILE_WITH_THREAD, numRuns: 20, maxCommands: 60 });

describeOnPostgres(testOn);

// The server of this machine has another version, such as Debian's 15.
describeOnEmbedded(18, testOn);

function testOn(database: TestDatabase): void {
  const kind = postgresKind(database);
  testModels({ kind, numRuns: 30, maxCommands: 100 });
  testModels({ kind, stores: 2, numRuns: 30, maxCommands: 100 });
  testModels({ kind, stores: 3, numRuns: 15, maxCommands: 100 });
}
