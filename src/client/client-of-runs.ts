import type { Client } from "./call-types.js";

const OF_RUNS = new WeakMap<Client, Client>();

/** Remembers the client with the same options and limits whose calls do not wait long. */
export function rememberClientOfRuns(client: Client, ofRuns: Client): void {
  OF_RUNS.set(client, ofRuns);
}

/** The client for runs of handlers; the same one if this copy of the package has not made it. */
export function clientOfRuns(client: Client): Client {
  return OF_RUNS.get(client) ?? client;
}
