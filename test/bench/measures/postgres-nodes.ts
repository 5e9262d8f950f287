import { printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { printStores, runStores, serverOf, storeRatio, withPostgres } from "./store-runs.js";

/** What three processes on one database cost the server, against one. */
export function measurePostgresNodes(context: MeasureContext): Promise<void> {
  const { facts, options, runtime } = context;
  return withPostgres(context, async (server) => {
    printTitle(`PostgreSQL, Node ${runtime.version}: processes on one database`);
    const plan = { way: "store", url: server.url, file: "" } as const;
    const plans = [plan, plan, plan];
    const callers = options.connections;
    const runs = await runStores(context, server, [
      { name: "one", title: "one process", plans: [plan] },
      { name: "shared", title: "three, which share the callers", plans },
      { name: "each", title: "three, each with as many callers", plans, callers },
    ]);
    printStores(runs);
    const [one, shared, each] = runs;
    facts.set("postgres nodes server", storeRatio(shared, one, serverOf));
    facts.set("postgres busy nodes server", storeRatio(each, one, serverOf));
  });
}
