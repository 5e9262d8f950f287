import { type BoundOperation, allowLocalUrls, bindOperations } from "../contract/bind-operations.js";
import type { Client } from "./call-types.js";
import { rememberClientOfRuns } from "./client-of-runs.js";
import { makeCall } from "./make-call.js";
import { type ClientOptions, type ResolvedClient, resolveClientOptions } from "./options.js";
import { MAX_RETRY_AFTER_IN_RUN_MS } from "./retry.js";

/**
 * Makes a client of the API. Input is checked before it is sent, and events are sent at the rate that the service
 * allows. Calls that can be repeated without a second effect are retried: those that only read, those of which the
 * service documents that a repeat changes nothing, and those with an idempotency key. Throws `invalid_option`.
 *
 * @example
 * const client = createClient({ apiKey, baseUrl });
 * await client.contactEvents.send({ name: "order.shipped", email }, { idempotencyKey: `order:${order.id}` });
 * for await (const endpoint of client.webhooks.list()) console.log(endpoint.url);
 */
export function createClient(options: ClientOptions): Client {
  const resolved = resolveClientOptions(options);
  // The documented rule keeps the service off private networks. An emulator's receivers are on this machine.
  const adapt = resolved.isLocal ? allowLocalUrls : (bound: BoundOperation) => bound;
  const operations = bindOperations(options.paths).map(adapt);
  const client = clientOf(operations, resolved);
  const deps = { ...resolved.deps, maxRetryAfterMs: MAX_RETRY_AFTER_IN_RUN_MS };
  rememberClientOfRuns(client, clientOf(operations, { ...resolved, deps }));
  return client;
}

function clientOf(operations: readonly BoundOperation[], resolved: ResolvedClient): Client {
  const client: Record<string, Record<string, (...args: unknown[]) => unknown>> = {};
  for (const bound of operations) {
    const { resource, name } = bound;
    const calls = (client[resource] ??= {});
    // Its own name in stack traces and when printed.
    calls[name] = Object.defineProperty(makeCall(bound, resolved), "name", { value: name });
  }
  for (const calls of Object.values(client)) Object.freeze(calls);
  // The type is derived from the same table as this loop.
  return Object.freeze(client) as unknown as Client;
}
