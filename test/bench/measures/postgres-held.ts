import { Client } from "pg";
import { createDatabase } from "../process/fill-postgres.js";
import { printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { printStores, rateOf, runStores, storeRatio, withPostgres } from "./store-runs.js";

/** A transaction that another session holds open all the while keeps PostgreSQL from removing dead rows. */
export function measurePostgresHeld(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  return withPostgres(context, async (server) => {
    const seconds = options.rounds * options.seconds;
    printTitle(`PostgreSQL, Node ${runtime.version}: a transaction held open, ${seconds} s of load in each database`);
    const url = await createDatabase(server.url, "held");
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id()");
    try {
      const [free, held] = await runStores(context, server, [
        { name: "free", title: "none", plans: [{ way: "store", url: server.url, file: "" }] },
        { name: "held", title: "one is held open", plans: [{ way: "store", url, file: "" }] },
      ]);
      printStores([free, held].filter((run) => run !== undefined));
      facts.set("postgres held rate", storeRatio(held, free, rateOf));
    } finally {
      await holder.end();
    }
  });
}
