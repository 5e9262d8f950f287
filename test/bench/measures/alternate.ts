import type { Contestant } from "../contestants/catalogue.js";
import { printLine, printProgress } from "../table.js";
import type { Scratch } from "../process/scratch.js";
import { startServer, type LoadGenerator, type ServerRun } from "./server-run.js";

/** A contestant with the circumstances of its server. */
export interface Entry {
  contestant: Contestant;
  env?: Record<string, string>;
  /** A database that exists already; undefined means a new one. */
  databaseFile?: string;
}

export interface AlternatedRun {
  entries: readonly Entry[];
  scratch: Scratch;
  load: LoadGenerator;
  cores: string;
  rounds: number;
  seconds: number;
  connections: number;
  rate?: number;
  profile?: string | undefined;
}

const WARM_UP_SECONDS = 1;

/**
 * Measures the entries in turn, round after round, in reversed order every other round, so that the machine's drift and
 * neighbours meet them all alike. An entry whose server does not start is named and left out.
 */
export async function runAlternated(run: AlternatedRun): Promise<ServerRun[]> {
  const servers: ServerRun[] = [];
  try {
    for (const entry of run.entries) {
      const server = await tryStart(run, entry);
      if (server) servers.push(server);
    }
    const plan = { connections: run.connections, ...(run.rate === undefined ? {} : { rate: run.rate }) };
    for (const server of servers) await server.measure({ ...plan, seconds: WARM_UP_SECONDS }, false);
    for (let round = 0; round < run.rounds; round += 1) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const { requestsPerSecond } = await server.measure({ ...plan, seconds: run.seconds }, true);
        const rate = Math.round(requestsPerSecond);
        printProgress(`round ${round + 1} of ${run.rounds}, ${server.contestant.name}: ${rate} req/s`);
      }
    }
  } finally {
    for (const server of servers) await server.end();
  }
  return servers;
}

async function tryStart(run: AlternatedRun, entry: Entry): Promise<ServerRun | undefined> {
  const { contestant, env } = entry;
  try {
    return await startServer({
      contestant,
      databaseFile: entry.databaseFile ?? run.scratch.file(`${contestant.name}.db`),
      cores: run.cores,
      load: run.load,
      profile: run.profile,
      ...(env === undefined ? {} : { env }),
    });
  } catch (error) {
    const [firstLine] = String(error instanceof Error ? error.message : error).split("\n");
    printLine(`SKIPPED ${contestant.name}: ${firstLine}`);
    return undefined;
  }
}
