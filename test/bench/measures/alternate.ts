import type { Contestant } from "../contestants/contestant.js";
import { BOTH_CORES, SERVER_CORE } from "../process/pinning.js";
import { printLine, printProgress } from "../table.js";
import type { MeasureContext } from "./context.js";
import { startServer, type ServerRun } from "./server-run.js";

/** Begins something beside a server that listens on the port. */
export type Beside = (port: number) => { end(): Promise<void> };

/** A contestant with the circumstances of its server. */
export interface Entry {
  contestant: Contestant;
  env?: Record<string, string>;
  /** A database that exists already; undefined means a new one. */
  databaseFile?: string;
  /** What goes on while this server is measured, and no other one. */
  beside?: Beside;
}

const WARM_UP_SECONDS = 2;

/**
 * Measures the entries in turn, round after round, in reversed order every other round, so that the machine's drift and
 * neighbours meet them all alike. An entry whose server does not start is named and left out.
 */
export async function runAlternated(
  context: MeasureContext,
  { entries, rate }: { entries: readonly Entry[]; rate?: number },
): Promise<ServerRun[]> {
  const { connections, rounds, seconds } = context.options;
  const servers: ServerRun[] = [];
  const besides = new Map<ServerRun, Beside>();
  try {
    for (const entry of entries) {
      const server = await tryStart(context, entry);
      if (server) servers.push(server);
      if (server && entry.beside !== undefined) besides.set(server, entry.beside);
    }
    const plan = { connections, ...(rate === undefined ? {} : { rate }) };
    const warmUp = { ...plan, seconds: Math.min(WARM_UP_SECONDS, seconds) };
    for (const server of servers) await server.measure(warmUp, false);
    for (let round = 0; round < rounds; round += 1) {
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const beside = besides.get(server)?.(server.port);
        const { requestsPerSecond } = await server.measure({ ...plan, seconds }, true);
        await beside?.end();
        const perSecond = Math.round(requestsPerSecond);
        printProgress(`round ${round + 1} of ${rounds}, ${server.contestant.name}: ${perSecond} req/s`);
      }
    }
  } finally {
    for (const server of servers) await server.end();
  }
  return servers;
}

/** Starts the contestant on its cores; names it and returns undefined when that fails. */
export async function tryStart(
  context: MeasureContext,
  entry: Entry & { nodeFlags?: readonly string[] },
): Promise<ServerRun | undefined> {
  const { load, options, perfLab, runtime, scratch } = context;
  const { contestant, env, nodeFlags } = entry;
  try {
    return await startServer({
      contestant,
      databaseFile: entry.databaseFile ?? scratch.file(`${contestant.name}.db`),
      cores: contestant.twoCores ? BOTH_CORES : SERVER_CORE,
      load,
      runtime,
      perfLab,
      profile: options.profile,
      ...(env === undefined ? {} : { env }),
      ...(nodeFlags === undefined ? {} : { nodeFlags }),
    });
  } catch (error) {
    const [firstLine] = String(error instanceof Error ? error.message : error).split("\n");
    printLine(`SKIPPED ${contestant.name}: ${firstLine}`);
    return undefined;
  }
}
