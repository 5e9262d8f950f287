// Leases an event and a contact event in a store on PostgreSQL, and holds them until it is killed.
import { silentLogger } from "#pigeonhole/base/logger.js";
import { createPostgresStore } from "#pigeonhole/store/postgres/postgres-store.js";

const DAY = 86_400_000;
const [connectionString, schema] = process.argv.slice(2);
const store = createPostgresStore({ connectionString, schema });
await store.open({ logger: silentLogger });
await store.recover(Date.now());
const now = Date.now();
const event = { id: "evt_1", type: "", receivedAt: now, signedAt: now, test: false, body: Buffer.from("1") };
await store.accept({ ...event, work: [{ handler: "h", leaseUntil: now + DAY }] });
await store.record([{ key: "a", body: '{"name":"a"}', occurredAt: now, isTimeGiven: true }], now);
await store.leaseSend({ now, leaseUntil: now + DAY, limit: 1 });
console.log("ready");
setInterval(() => void store.recover(Date.now()), 1_000);
