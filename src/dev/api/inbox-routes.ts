import type { Clock } from "../../base/clock.js";
import { silentLogger } from "../../base/logger.js";
import { type StoreFigures, storeFigures } from "../../operator/figures-now.js";
import type { InboxOperator } from "../../store/inbox-operator.js";
import { ActionLog } from "../../web/action-log.js";
import { errorRoutes } from "../../web/error-routes.js";
import { eventRoutes } from "../../web/event-routes.js";
import type { WebRoute } from "../../web/find-route.js";
import { handlerRoutes } from "../../web/handler-routes.js";
import type { InboxRoute, Viewer } from "../../web/inbox-route.js";
import { outboxRoutes } from "../../web/outbox-routes.js";
import { PageApiError } from "../../web/page-api-error.js";
import { PersonalData } from "../../web/personal-data.js";
import { SharedReadings } from "../../web/shared-readings.js";
import type { WorkList } from "./page-api.js";
import type { WorkFollower } from "./work-follower.js";

/** The developer sees all and does all. */
export const DEVELOPER: Viewer = { name: "dev", role: "operate", payloads: "full" };

/** Nothing is hidden from the developer: names of rows need only be the same after a restart. */
const SECRET = Buffer.from("names of the dev server");

export interface InboxRouteDeps {
  /** Its inbox may appear later; the work is given with it. */
  receiver: { readonly inbox: InboxOperator | undefined; readonly work: WorkFollower | undefined };
  clock: Clock;
}

/** Reads and manages a receiver's database. Without one each of these answers 404 `no_inbox`. */
export function inboxRoutes({ receiver, clock }: InboxRouteDeps): WebRoute[] {
  const operator = (): InboxOperator => {
    if (receiver.inbox !== undefined) return receiver.inbox;
    throw new PageApiError(404, {
      code: "no_inbox",
      message: "Start with --inbox <database> to read a receiver's database.",
    });
  };
  const readings = new SharedReadings(operator, clock);
  const [personal, log] = [new PersonalData(SECRET), new ActionLog(silentLogger, clock)];
  const tools = { operator, readings, personal, log, now: () => clock.now() };
  const shared = [
    ...errorRoutes(tools),
    ...eventRoutes(tools),
    ...handlerRoutes({ ...tools, handlers: () => [] }),
    ...outboxRoutes(tools),
  ];
  return [
    {
      method: "GET",
      path: "/api/inbox",
      handle: async (): Promise<StoreFigures> => storeFigures(await operator().overview(), clock.now()),
    },
    {
      method: "GET",
      path: "/api/work",
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

/** As the dashboard answers it, for the developer. An event that was changed is followed. */
function followedRoute(route: InboxRoute, receiver: InboxRouteDeps["receiver"], readings: SharedReadings): WebRoute {
  const { method, path, needs } = route;
  return {
    method,
    path,
    async handle(call) {
      const answer: unknown = await route.handle({ ...call, person: DEVELOPER });
      if (needs !== "operate") return answer;
      readings.forgetAll();
      if (path.startsWith("/api/events/")) receiver.work?.follow(call.id);
      return answer;
    },
  };
}
