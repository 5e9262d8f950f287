import { describeOnEmbedded } from "../support/postgres-server.js";
import { describeStore } from "./conformance.js";
import { postgresKind } from "./postgres-kind.js";

// The oldest version that is promised and the newest; `npm test` has the suite on the server of this machine, such as
// Debian's 15.
for (const version of [14, 18] as const)
  describeOnEmbedded(version, (database) => describeStore(postgresKind(database)));
