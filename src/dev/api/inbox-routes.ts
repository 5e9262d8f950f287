import { silentLogger } from "../../base/logger.js";
import { type StoreFigures, storeFigures } from "../../operator/figures-now.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { ActionLog } from "../../web/action-log.js";
import { inboxRoutes } from "../../web/inbox-routes.js";
import { PageApiError } from "../../web/page-api-error.js";
import { PersonalData } from "../../web/personal-data.js";
import { SharedReadings } from "../../web/shared-readings.js";
import type { WebRoute } from "../../web/web-route.js";
import type { DevTools } from "./dev-tools.js";
import type { WorkList } from "./page-api.js";

/** Nothing is hidden from the developer: names of rows need only be the same after a restart. */
const SECRET = Buffer.from("names of the dev server");

/** Reads and manages a receiver's database. Without one each of these answers 404 `no_inbox`. */
export function devInboxRoutes({ receiver, clock }: Pick<DevTools, "receiver" | "clock">): WebRoute[] {
  const operator = (): InboxOperator => {
    if (receiver.inbox !== undefined) return receiver.inbox;
    throw new PageApiError(404, {
      code: "no_inbox",
      message: "Start with --inbox <database> to read a receiver's database.",
    });
  };
  const readings = new SharedReadings(operator, clock);
  const [personal, log] = [new PersonalData(SECRET), new ActionLog(silentLogger, clock)];
  const shared = inboxRoutes({ operator, readings, personal, log, handlers: () => [], now: () => clock.now() });
  return [
    {
      at: "GET /api/inbox",
      handle: async (): Promise<StoreFigures> => storeFigures(await operator().overview(), clock.now()),
    },
    {
      at: "GET /api/work",
      handle: async ({ query }): Promise<WorkList> => {
        const id = query.get("id");
        if (id === null) return { events: receiver.work?.known ?? [] };
        const event = await operator().getEvent(id);
        const { work } = receiver;
        return { events: event === undefined || work === undefined ? [] : [work.learn(event)] };
      },
    },
    ...shared.map((route) => followedRoute(route, receiver, readings)),
  ];
}

/** As the dashboard answers it. An event that was changed is followed. */
function followedRoute(route: WebRoute, receiver: DevTools["receiver"], readings: SharedReadings): WebRoute {
  if (route.at.startsWith("GET") || route.needs === "payload") return route;
  return {
    ...route,
    async handle(call) {
      const answer: unknown = await route.handle(call);
      readings.forgetAll();
      if (route.at.startsWith("POST /api/events/")) receiver.work?.follow(call.id);
      return answer;
    },
  };
}
