import { postgresKind } from "../store/postgres-kind.js";
import { describeStore } from "../store/conformance.js";
import { describeOnPostgres } from "../support/postgres-server.js";

// On the server of this machine, such as Debian's 15; `npm run test:all` has the suite on 18 too.
describeOnPostgres((database) => describeStore(postgresKind(database)));
