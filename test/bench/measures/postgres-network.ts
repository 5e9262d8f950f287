import { startDelayRelay } from "../process/delay-relay.js";
import { median } from "../stats.js";
import { printTitle } from "../table.js";
import type { MeasureContext } from "./context.js";
import { p50Of, printStores, rateOf, runStores, storeRatio, withPostgres } from "./store-runs.js";

const ROUND_TRIP_MS = 2;

/** The store on a server that is a network away, against one that is not. */
export function measurePostgresNetwork(context: MeasureContext): Promise<void> {
  const { facts, runtime } = context;
  return withPostgres(context, async (server) => {
    printTitle(`PostgreSQL, Node ${runtime.version}: ${ROUND_TRIP_MS} ms added to every round trip`);
    const relay = await startDelayRelay(server.port, ROUND_TRIP_MS / 2);
    try {
      const url = new URL(server.url);
      url.port = String(relay.port);
      const [near, far] = await runStores(context, server, [
        { name: "near", title: "on the same machine", plans: [{ way: "store", url: server.url, file: "" }] },
        { name: "far", title: `${ROUND_TRIP_MS} ms away`, plans: [{ way: "store", url: url.href, file: "" }] },
      ]);
      printStores([near, far].filter((run) => run !== undefined));
      facts.set("postgres network rate", storeRatio(far, near, rateOf));
      const p50 = (run: typeof near): number => median(run?.figures.map(p50Of) ?? []);
      facts.set("postgres network trips", (p50(far) - p50(near)) / ROUND_TRIP_MS);
    } finally {
      relay.end();
    }
  });
}
