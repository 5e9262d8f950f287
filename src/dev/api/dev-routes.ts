import type { WebRoute } from "../../web/web-route.js";
import { actionRoutes } from "./action-routes.js";
import { captureRoutes } from "./capture-routes.js";
import type { DevTools } from "./dev-tools.js";
import { exportRoutes } from "./export-routes.js";
import { devInboxRoutes } from "./inbox-routes.js";
import { sandboxRoutes } from "./sandbox-routes.js";

/** All that the page of a dev server calls. */
export function devRoutes(tools: DevTools): WebRoute[] {
  return [
    { at: "GET /api/session", handle: tools.session },
    ...captureRoutes(tools),
    ...exportRoutes(tools),
    ...actionRoutes(tools),
    ...devInboxRoutes(tools),
    ...sandboxRoutes(tools.sandbox),
  ];
}
