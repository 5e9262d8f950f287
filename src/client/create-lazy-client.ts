import type { Client } from "./call-types.js";
import { clientOfRuns, rememberClientOfRuns } from "./client-of-runs.js";
import { type ClientOptions, resolveClientOptions } from "./options.js";

/**
 * A client that loads the contract with its first call, for a program that may never call. Throws `invalid_option` as
 * `createClient` does, but for `paths`, which its calls reject with.
 */
export function createLazyClient(options: ClientOptions): Client {
  resolveClientOptions(options);
  let loading: Promise<Client> | undefined;
  const load = (): Promise<Client> =>
    (loading ??= import("./create-client.js").then(({ createClient }) => createClient(options)));
  const client = clientOver(load);
  rememberClientOfRuns(
    client,
    clientOver(() => load().then(clientOfRuns)),
  );
  return client;
}

function clientOver(load: () => Promise<Client>): Client {
  return byName((resource) =>
    byName(
      (name) =>
        (...args: unknown[]) =>
          callLater(load, [resource, name], args),
    ),
  ) as Client;
}

/** An object whose fields are made from their names. None of them is `then`, so that it can be awaited. */
function byName(fieldOf: (name: string) => unknown): object {
  return new Proxy({}, { get: (_, name) => (typeof name === "string" && name !== "then" ? fieldOf(name) : undefined) });
}

function callLater(load: () => Promise<Client>, [resource, name]: [string, string], args: unknown[]): Promise<unknown> {
  // In an object, since a promise of a list would be resolved with its first page.
  const started = load().then((client) => {
    const calls = (client as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>)[resource];
    return { answer: calls?.[name]?.(...args) };
  });
  const first = started.then(({ answer }) => answer);
  async function* rows(): AsyncGenerator<unknown, void> {
    // A loop over a list does not await the first page, whose rejection must be handled.
    await first;
    yield* (await started).answer as AsyncIterable<unknown>;
  }
  return Object.assign(first, { [Symbol.asyncIterator]: rows });
}
