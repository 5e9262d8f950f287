import { postgresKind } from "../store/postgres-kind.js";
import { describeStore } from "../store/conformance.js";
import { testModels } from "../store/model/test-models.js";
import { describeOnPostgres } from "../support/postgres-server.js";

// On the server of this machine, such as Debian's 15; `npm run test:all` has the suite on 14 and 18 too.
describeOnPostgres((database) => {
  const kind = postgresKind(database);
  describeStore(kind);
  testModels({ kind, numRuns: 2, maxCommands: 60, seed: 1 });
});
