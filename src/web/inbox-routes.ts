import { errorRoutes } from "./error-routes.js";
import { eventRoutes } from "./event-routes.js";
import { handlerRoutes } from "./handler-routes.js";
import type { InboxTools } from "./inbox-tools.js";
import { outboxRoutes } from "./outbox-routes.js";
import type { WebRoute } from "./web-route.js";

/** What the dashboard and the dev server answer alike. */
export function inboxRoutes(tools: InboxTools): WebRoute[] {
  return [errorRoutes, eventRoutes, handlerRoutes, outboxRoutes].flatMap((routesOf) => routesOf(tools));
}
