import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { HoldProbe } from "./probe-file.js";

/** Locks that a session waits for now. Advisory ones are those of processes, which no delivery waits for. */
const WAITS = `
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart) * 1000), 0)::float8 AS ms
  FROM pg_locks WHERE NOT granted AND locktype <> 'advisory'`;

/** Looks each 5 ms for how long sessions have been waiting for a lock. */
export async function probeDatabase(url: string): Promise<HoldProbe> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const ending = new AbortController();
  const waits: number[] = [];
  const looking = (async () => {
    while (!ending.signal.aborted) {
      const { rows } = await client.query<{ ms: number }>(WAITS);
      const ms = rows[0]?.ms ?? 0;
      if (ms > 0) waits.push(ms);
      await sleep(5);
    }
    await client.end();
  })();
  return {
    async end() {
      ending.abort();
      await looking;
      return waits;
    },
  };
}
