import type { BoundOperation } from "../contract/bind-operations.js";
import type { Page } from "../contract/paging.js";
import type { Client } from "./call-types.js";
import { apiErrorFor } from "./errors.js";
import { type ClientOptions, type ResolvedClient, resolveClientOptions } from "./options.js";
import { type PagePromise, pagePromise } from "./page-promise.js";
import { type CallArguments, prepareCall, splitArguments } from "./prepare-call.js";
import { runCall } from "./run-call.js";

/**
 * Makes a client of the API. Input is checked before it is sent, calls that only read or carry an idempotency key are
 * retried, and events are sent at the rate that the service allows. Throws `invalid_option`.
 *
 * @example
 * const client = createClient({ apiKey, baseUrl });
 * await client.contactEvents.send({ name: "order.shipped", email }, { idempotencyKey: `order:${order.id}` });
 * for await (const endpoint of client.webhooks.list()) console.log(endpoint.url);
 */
export function createClient(options: ClientOptions): Client {
  const resolved = resolveClientOptions(options);
  const client: Record<string, Record<string, (...args: unknown[]) => unknown>> = {};
  for (const bound of resolved.operations) {
    const [resource = "", name = ""] = bound.call.split(".");
    const calls = (client[resource] ??= {});
    const call = bound.operation.paged === true ? pagedCall(bound, resolved) : singleCall(bound, resolved);
    // Its own name in stack traces and when printed.
    calls[name] = Object.defineProperty(call, "name", { value: name });
  }
  for (const calls of Object.values(client)) Object.freeze(calls);
  // The type is derived from the same table as this loop.
  return Object.freeze(client) as unknown as Client;
}

function singleCall(bound: BoundOperation, resolved: ResolvedClient): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => run(bound, splitArguments(bound, args), resolved);
}

function pagedCall(bound: BoundOperation, resolved: ResolvedClient): (...args: unknown[]) => PagePromise<unknown> {
  return (...args) => {
    // A copy from the first page, since the caller may change the object between pages.
    let filters: object | undefined;
    const fetchPage = async (cursor: string | undefined): Promise<Page<unknown>> => {
      const split = splitArguments(bound, args);
      filters ??= { ...(split.query as object) };
      const query = cursor === undefined ? split.query : { ...filters, cursor };
      return (await run(bound, { ...split, query }, resolved)) as Page<unknown>;
    };
    return pagePromise(fetchPage, (message) => endlessList(bound.call, message));
  };
}

async function run(bound: BoundOperation, args: CallArguments, { baseUrl, deps }: ResolvedClient): Promise<unknown> {
  return runCall(prepareCall(bound, args, baseUrl, deps.clock.now()), deps);
}

function endlessList(call: string, message: string): Error {
  const unknown = { param: undefined, requestId: undefined, retryAfterMs: undefined };
  return apiErrorFor({ call, status: 200, code: "invalid_answer", message, ...unknown });
}
