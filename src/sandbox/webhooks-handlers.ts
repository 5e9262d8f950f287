import type { Contract } from "../contract/contract.js";
import type { QueryInput } from "../contract/operation.js";
import { DEFAULT_EVENT_TYPES, EVENT_TYPES } from "../protocol/event-types.js";
import type { ApiHandlers } from "./api/api-handlers.js";
import { type PageBody, pageRows } from "./api/page-rows.js";
import type { AttemptFilter, AttemptLog } from "./delivery/attempt-log.js";
import { type AttemptRow, attemptBody, outcomeBody } from "./delivery/attempt-row.js";
import { type DeliverOnce, noSuchRow } from "./delivery/deliver-once.js";
import { invalidParameter } from "./endpoints/check-endpoint.js";
import type { EndpointRegistry } from "./endpoints/endpoint-registry.js";
import { endpointBody } from "./endpoints/endpoint.js";
import { pageBody } from "./api/collection.js";

/** The operations on webhook endpoints, on the sandbox's own state. See docs/service.md#endpoint-operations. */
export function createWebhooksHandlers(from: {
  endpoints: EndpointRegistry;
  log: AttemptLog;
  deliverOnce: DeliverOnce;
  newEventTypes: readonly string[];
}): ApiHandlers["webhooks"] {
  const { endpoints, log, deliverOnce, newEventTypes } = from;
  const defaults: readonly string[] = DEFAULT_EVENT_TYPES;
  const eventTypes = [...EVENT_TYPES, ...newEventTypes].map((type) => ({ type, default: defaults.includes(type) }));
  return {
    list: ({ query }) => ({ body: pageBody(endpoints.page(query), endpointBody) }),
    get: ({ params }) => ({ body: endpointBody(endpoints.get(idOf(params))) }),
    create({ body, caller }) {
      const endpoint = endpoints.create(body, { caller });
      return { body: { ...endpointBody(endpoint), secret: endpoint.secret } };
    },
    update: ({ params, body, caller }) => ({
      body: endpointBody(endpoints.update(idOf(params), body, caller)),
    }),
    delete: ({ params, caller }) => ({ body: endpoints.delete(idOf(params), caller) }),
    async test({ params }) {
      const { id } = endpoints.get(idOf(params));
      return { body: { object: "webhook_test", id, delivery: outcomeOf(await deliverOnce.test(id)) } };
    },
    rotateSecret({ params, caller }) {
      const endpoint = endpoints.rotateSecret(idOf(params), { caller });
      return { body: { ...endpointBody(endpoint), secret: endpoint.secret } };
    },
    deliveries: ({ params, query }) => ({ body: pageOfLog(log, query, endpoints.get(idOf(params)).id) }),
    delivery({ params }) {
      const { id } = endpoints.get(idOf(params));
      const logged = log.find(id, params["deliveryId"] ?? "");
      if (logged === undefined) throw noSuchRow();
      return { body: attemptBody(logged.row) };
    },
    allDeliveries: ({ query }) => ({ body: pageOfLog(log, query, undefined) }),
    activity: ({ query }) => ({ body: endpoints.activityPage(query) }),
    eventTypes: () => ({ body: { object: "list", data: eventTypes } }),
    stats() {
      const all = endpoints.list();
      const enabled = all.filter((endpoint) => endpoint.enabled).length;
      const [delivered, failed] = [log.count("delivered"), log.count("failed")];
      return { body: { object: "webhook_stats", endpoints: all.length, enabled, delivered, failed } };
    },
    async replay({ params }) {
      const { id } = endpoints.get(idOf(params));
      const row = await deliverOnce.replay(id, params["deliveryId"] ?? "");
      return { body: { object: "webhook_replay", id, delivery: outcomeOf(row) } };
    },
  };
}

/** One page of the delivery log of an endpoint, or of all. */
function pageOfLog(
  log: AttemptLog,
  { status, since, until, limit, cursor }: QueryInput<Contract["webhooks"]["deliveries"]>,
  endpointId: string | undefined,
): PageBody<object> {
  const page = pageRows({
    list: `webhooks.deliveries ${JSON.stringify([endpointId, status, since, until])}`,
    rows: log.list({ endpointId, ...statusFilter(status), sinceMs: msOf(since), untilMs: msOf(until) }),
    positionOf: ({ sequence, row }) => [Date.parse(row.createdAt), sequence],
    limit,
    cursor,
  });
  return pageBody(page, ({ row }) => attemptBody(row));
}

function idOf(params: Readonly<Record<string, string>>): string {
  return params["id"] ?? "";
}

function outcomeOf(row: AttemptRow | undefined) {
  return row === undefined ? null : outcomeBody(row);
}

function statusFilter(status: string | undefined): AttemptFilter {
  if (status === undefined) return {};
  if (status === "delivered" || status === "failed") return { status };
  throw invalidParameter("status", "Must be delivered or failed.");
}

function msOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Date.parse(time);
}
