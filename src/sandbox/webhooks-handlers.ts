import type { Contract } from "../contract/contract.js";
import type { QueryInput } from "../contract/operation.js";
import { DEFAULT_EVENT_TYPES, EVENT_TYPES } from "../protocol/event-types.js";
import { type ApiHandlers, requireOneOf } from "./api/api-handlers.js";
import { type PageBody, isWithin, pageBody, pageRows } from "./api/page-rows.js";
import type { AttemptLog } from "./delivery/attempt-log.js";
import { type AttemptRow, attemptBody, outcomeBody } from "./delivery/attempt-row.js";
import { endpointBody, withSecret } from "./endpoints/endpoint.js";
import type { SandboxDeliveries } from "./sandbox-deliveries.js";

/** The operations on webhook endpoints, on the sandbox's own state. See docs/service.md#endpoint-operations. */
export function createWebhooksHandlers(
  deliveries: SandboxDeliveries,
  newEventTypes: readonly string[],
): ApiHandlers["webhooks"] {
  const { endpoints, log } = deliveries;
  const defaults: readonly string[] = DEFAULT_EVENT_TYPES;
  const eventTypes = [...EVENT_TYPES, ...newEventTypes].map((type) => ({ type, default: defaults.includes(type) }));
  return {
    list: ({ query }) => pageBody(endpoints.page(query), endpointBody),
    get: ({ params }) => endpointBody(endpoints.get(params.id)),
    create: ({ body, caller }) => withSecret(endpoints.create(body, { caller })),
    update: ({ params, body, caller }) => endpointBody(endpoints.update(params.id, body, caller)),
    delete: ({ params, caller }) => endpoints.delete(params.id, caller),
    async test({ params }) {
      const { id } = endpoints.get(params.id);
      return { object: "webhook_test", id, delivery: outcomeBody(await deliveries.test(id)) };
    },
    rotateSecret: ({ params, caller }) => withSecret(endpoints.rotateSecret(params.id, { caller })),
    deliveries: ({ params, query }) => pageOfLog(log, query, endpoints.get(params.id).id),
    delivery: ({ params }) => attemptBody(deliveries.attempt(endpoints.get(params.id).id, params.deliveryId).row),
    allDeliveries: ({ query }) => pageOfLog(log, query, undefined),
    activity: ({ query }) => endpoints.activityPage(query),
    eventTypes: () => ({ object: "list", data: eventTypes }),
    stats() {
      const all = endpoints.list();
      const enabled = all.filter((endpoint) => endpoint.enabled).length;
      const [delivered, failed] = (["delivered", "failed"] as const).map((status) => log.list({ status }).length);
      return { object: "webhook_stats", endpoints: all.length, enabled, delivered, failed };
    },
    async replay({ params }) {
      const { id } = endpoints.get(params.id);
      return { object: "webhook_replay", id, delivery: outcomeBody(await deliveries.replay(id, params.deliveryId)) };
    },
  };
}

/** One page of the delivery log of an endpoint, or of all. */
function pageOfLog(
  log: AttemptLog,
  { status, since, until, ...query }: QueryInput<Contract["webhooks"]["deliveries"]>,
  endpointId: string | undefined,
): PageBody<object> {
  requireOneOf("status", status, ["delivered", "failed"]);
  const logged = log.list({ endpointId, status: status as AttemptRow["status"] });
  const rows = logged.filter(({ row }) => isWithin(row.createdAt, { since, until }));
  const filters = [endpointId, status, since, until];
  return pageBody(pageRows(rows, { list: "webhooks.deliveries", filters, sortings: NEWEST, ...query }), attemptBody);
}

/** By the time at which each began; the log has them in the order in which they ended. */
const NEWEST = {
  newest: { positionOf: ({ createdAt }: AttemptRow, sequence: number) => [Date.parse(createdAt), sequence] },
};
