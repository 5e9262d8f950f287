import { PigeonholeError } from "../base/error.js";
import { isoTime } from "../base/iso-time.js";
import { readPackageVersion } from "../base/package-version.js";
import type { FetchHandler } from "../http/fetch-mount.js";
import type { NodeMiddleware } from "../http/node-mount.js";
import { EVENT_TYPES } from "../protocol/event-types.js";
import { partsOf } from "../receiver/parts-of.js";
import type { ReceiverParts } from "../receiver/receiver-parts.js";
import { ActionLog } from "./action-log.js";
import { ActionTokens } from "./action-token.js";
import { type OpenDashboard, createAnswer } from "./answer-request.js";
import type { DashboardSession } from "./dashboard-api.js";
import { DashboardFiles } from "./dashboard-files.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { type AllowAnswer, DASHBOARD_OPTIONS, type DashboardOptions } from "./dashboard-options.js";
import type { DashboardRoute } from "./dashboard-route.js";
import { DeliveryLog } from "./delivery-log.js";
import { deliveryRoutes } from "./delivery-routes.js";
import { errorRoutes } from "./error-routes.js";
import { eventRoutes } from "./event-routes.js";
import { FailureLog } from "./failure-log.js";
import { createFetchDashboard } from "./fetch-dashboard.js";
import { handlerRoutes } from "./handler-routes.js";
import { jobRoutes } from "./job-routes.js";
import { JobRunner } from "./job-runner.js";
import { LiveView } from "./live-view.js";
import { createNodeDashboard } from "./node-dashboard.js";
import { NowReader } from "./now-reader.js";
import { outboxRoutes } from "./outbox-routes.js";
import { overviewRoutes } from "./overview-routes.js";
import { PersonalData } from "./personal-data.js";

/** A mounted dashboard: a middleware of Express and Connect and a listener of node:http, with a handler for Fetch. */
export interface Dashboard extends NodeMiddleware {
  /** For runtimes that speak the Fetch standard. */
  fetch: FetchHandler;
}

/** The receiver that a dashboard is of; any that `createReceiver` makes. */
export interface DashboardReceiver {
  /** Its state. */
  readonly state: string;
}

/**
 * Makes the dashboard of a receiver, to be mounted behind the app's own login. It lets in whom `allow` lets in, and
 * nobody without it. It works while the receiver runs. Throws `invalid_option`, and `invalid_argument` for what
 * `createReceiver` has not made.
 */
export function createDashboard<Req = never>(
  receiver: DashboardReceiver,
  options: DashboardOptions<Req> = {},
): Dashboard {
  const { allow, payloads, path } = DASHBOARD_OPTIONS.resolve(options);
  const parts = partsOf(receiver);
  const { clock, logger } = parts.options;
  const operator = operatorOf(parts);
  const failures = new FailureLog(logger, clock);
  const open = openOnce(parts, { operator, failures });
  const answer = createAnswer({
    // The server that it is mounted on passes its own requests.
    people: { allow: allow as ((request: unknown) => AllowAnswer) | undefined, payloads, logger },
    files: new DashboardFiles(),
    open,
    now: () => clock.now(),
    failures,
  });
  return Object.assign(createNodeDashboard(answer, path), { fetch: createFetchDashboard(answer, path) });
}

/** The operator of the receiver's store, as long as that is open. Throws `invalid_option` for a store without one. */
function operatorOf({ options, path }: ReceiverParts): () => InboxOperator {
  const { store } = options;
  const open = store.openOperator?.bind(store);
  if (open === undefined)
    throw new PigeonholeError(
      "invalid_option",
      "The store of this receiver has no openOperator, which a dashboard needs.",
    );
  let opened: InboxOperator | undefined;
  return () => {
    const { state } = path.admission;
    if (state !== "running" && state !== "stopping")
      throw new PigeonholeError("stopped", `The receiver is ${state}; its dashboard works while it runs.`);
    opened ??= open();
    return opened;
  };
}

/** Reads the secret of the store with the first request, and begins to work on jobs at once. */
function openOnce(
  parts: ReceiverParts,
  { operator, failures }: { operator: () => InboxOperator; failures: FailureLog },
): () => Promise<OpenDashboard> {
  const { clock, logger } = parts.options;
  const { admission } = parts.path;
  const isRunning = (): boolean => admission.state === "running";
  const jobs = new JobRunner({ operator, receiver: admission, clock, failures });
  const now = new NowReader({ operator, receiver: parts, clock });
  const live = new LiveView({
    readNow: () => now.read(),
    readJobs: () => operator().listJobs(),
    lastReportAt: () => now.lastReportAt,
    isRunning,
    failures,
    clock,
  });
  const { api } = parts.options;
  const deliveries = api === undefined ? undefined : new DeliveryLog(api, clock);
  let opening: Promise<OpenDashboard> | undefined;
  return () => {
    // Without an open store there is no operator, whatever was opened before.
    const inbox = operator();
    opening ??= inbox.dashboardSecret().then((secret) => {
      const tokens = new ActionTokens(secret);
      const personal = new PersonalData(secret);
      const log = new ActionLog(logger);
      const handlers = (): string[] => parts.path.registry.all.map(({ name }) => name);
      const routes = [
        sessionRoute({ tokens, operator, handlers, now: () => clock.now() }),
        ...overviewRoutes({ operator, now }),
        ...errorRoutes({ operator, personal, now: () => clock.now() }),
        ...eventRoutes({ operator, store: parts.options.store, personal, log }),
        ...deliveryRoutes({ operator, personal, deliveries }),
        ...handlerRoutes({ operator, handlers, log }),
        ...jobRoutes({ operator, personal, jobs, log }),
        ...outboxRoutes({ operator, personal, log }),
      ];
      return { routes, tokens, live };
    });
    opening.catch(() => (opening = undefined));
    return opening;
  };
}

interface SessionTools {
  tokens: ActionTokens;
  operator: () => InboxOperator;
  handlers: () => string[];
  now: () => number;
}

function sessionRoute({ tokens, operator, handlers, now }: SessionTools): DashboardRoute {
  return {
    method: "GET",
    path: "/api/session",
    needs: "read",
    handle({ person }): DashboardSession {
      const inbox = operator();
      const { token, expiresAt } = tokens.issue(person.name, now());
      return {
        version: readPackageVersion(),
        ...person,
        token,
        tokenExpiresAt: isoTime(expiresAt),
        database: inbox.database,
        eventTypes: [...EVENT_TYPES],
        handlers: handlers(),
      };
    },
  };
}
