import { describeOnPostgres } from "../support/postgres-server.js";
import { describeStore } from "./conformance.js";
import { postgresKind } from "./postgres-kind.js";

describeOnPostgres((database) => describeStore(postgresKind(database)));
