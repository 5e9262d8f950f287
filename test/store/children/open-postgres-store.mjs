// Opens a store on PostgreSQL and accepts an event.
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";

const [connectionString, schema] = process.argv.slice(2);
const store = createPostgresStore({ connectionString, schema });
await store.open({ logger: silentLogger });
const event = { id: "evt_1", type: "", receivedAt: 1, signedAt: 1, test: false, body: Buffer.from("1"), work: [] };
const { kind } = await store.accept(event);
await store.close();
console.log(kind);
