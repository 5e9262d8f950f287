import { describeOnEmbedded } from "../support/postgres-server.js";
import { describeStore } from "./conformance.js";
import { postgresKind } from "./postgres-kind.js";

// `npm test` has the suite on the server of this machine, such as Debian's 15.
describeOnEmbedded(18, (database) => describeStore(postgresKind(database)));
