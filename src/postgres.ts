export { type PostgresStore, type PostgresStoreOptions, createPostgresStore } from "./store/postgres/postgres-store.js";
export type { PostgresTransaction } from "./store/postgres/call-with-client.js";
