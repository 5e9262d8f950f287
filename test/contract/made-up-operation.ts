import { z } from "zod";
import { makeCall } from "#pigeonhole/client/make-call.js";
import { type ClientOptions, resolveClientOptions } from "#pigeonhole/client/options.js";
import type { BoundOperation } from "#pigeonhole/contract/bind-operations.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { createTestApi } from "../sandbox/api/support.js";

/** An operation that the contract does not have, to try what an operation can say. */
export const MADE_UP = {
  method: "GET",
  path: "/things/{id}",
  scope: "webhooks:read",
  params: z.strictObject({ id: z.string() }),
  status: [200],
  result: z.looseObject({}),
  retry: "safe",
  doc: "Reads a thing.",
  example: { params: { id: "1" } },
} as const satisfies Operation;

/** Something that a handler was called with. */
export interface SeenCall {
  caller: unknown;
  params: unknown;
  query: unknown;
  body: unknown;
}

/**
 * The client's call of an operation, and the sandbox's API behind it. The operation stands in for `webhooks.get`. The
 * handler answers an empty object, or what `answer` says.
 */
export function serve(
  operation: Operation,
  {
    answer = () => ({}),
    client = {},
    api = {},
  }: {
    answer?: (call: never) => object;
    client?: Partial<ClientOptions>;
    api?: Parameters<typeof createTestApi>[0];
  } = {},
) {
  const bound = boundTo(operation);
  const seen: SeenCall[] = [];
  const handler = (call: never) => {
    seen.push(call);
    return answer(call);
  };
  const service = createTestApi({
    adaptRow: (row) => (row.call === bound.call ? bound : row),
    handlers: { webhooks: { get: handler } } as never,
    ...api,
  });
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch: NonNullable<ClientOptions["fetch"]> = (url, init) => {
    sent.push({ url, init });
    return service.fetch(url, init);
  };
  const call = callOf(operation, { ...service.clientOptions, fetch, maxRetries: 0, ...client });
  return { ...service, call, send: service.call, seen, sent };
}

/** The client's call of an operation that stands in for `webhooks.get`. */
export function callOf(operation: Operation, options: ClientOptions) {
  return makeCall(boundTo(operation), resolveClientOptions(options)) as (...args: unknown[]) => Promise<unknown>;
}

function boundTo(operation: Operation): BoundOperation {
  return { resource: "webhooks", name: "get", operation, call: "webhooks.get", path: operation.path };
}
