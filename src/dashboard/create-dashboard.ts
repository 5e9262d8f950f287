import { PigeonholeError } from "../base/error.js";
import { readPackageVersion } from "../base/package-version.js";
import type { FetchHandler } from "../http/fetch-mount.js";
import type { NodeMiddleware } from "../http/node-mount.js";
import { type ReceiverParts, partsOf } from "../receiver/receiver-parts.js";
import { ActionLog } from "../web/action-log.js";
import { createAnswer } from "./answer-request.js";
import type { PageSession } from "../web/api/session.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import { type AllowAnswer, DASHBOARD_OPTIONS, type DashboardOptions } from "./dashboard-options.js";
import { BuiltFiles } from "../web/built-files.js";
import { inboxRoutes } from "../web/inbox-routes.js";
import type { InboxTools } from "../web/inbox-tools.js";
import type { WebRoute } from "../web/web-route.js";
import { DeliveryLog } from "./delivery-log.js";
import { deliveryRoute } from "./event-deliveries.js";
import { FailureLog } from "./failure-log.js";
import { createFetchDashboard } from "./fetch-dashboard.js";
import { jobRoutes } from "./job-routes.js";
import { JobRunner } from "./job-runner.js";
import { LiveView } from "./live-view.js";
import { createNodeDashboard } from "./node-dashboard.js";
import { NowReader } from "./now-reader.js";
import { overviewRoutes } from "./overview-routes.js";
import { PersonalData } from "../web/personal-data.js";
import { SharedReadings } from "../web/shared-readings.js";
import { StoreOrMemory, hasStopped } from "./store-or-memory.js";
import { troubleOfStart } from "./store-trouble.js";

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
  const { allow, payloads, path, origin, hosts } = DASHBOARD_OPTIONS.resolve(options);
  const parts = partsOf(receiver);
  const { clock, logger, logErrorMessages } = parts.options;
  const operator = operatorOf(parts);
  const failures = new FailureLog(logger, clock);
  const storeOrMemory = new StoreOrMemory({ receiver: parts, failures });
  const readings = new SharedReadings(operator, clock);
  const jobs = new JobRunner({ operator, receiver: parts.path.admission, clock, failures });
  const now = new NowReader({ readings, receiver: parts, storeOrMemory, jobs, clock });
  const log = new ActionLog(logger, clock);
  const tools = { operator, readings, jobs, log, handlers: () => handlersOf(parts), now: () => clock.now() };
  const open = openOnce(parts.options, tools);
  const answer = createAnswer({
    // The server that it is mounted on passes its own requests.
    people: {
      allow: allow as ((request: unknown) => AllowAnswer) | undefined,
      payloads,
      logErrorMessages,
      logger,
      clock,
    },
    origin,
    hosts,
    file: parts.options.store.file,
    files: new BuiltFiles("dashboard"),
    open,
    lasting: [
      sessionRoute(tools, storeOrMemory),
      ...overviewRoutes({ readings, receiver: parts, now, storeOrMemory, failures }),
    ],
    live: new LiveView({
      readNow: () => now.read(),
      readJobs: () => readings.listJobs(),
      lastReportAt: () => now.lastReportAt,
      isOver: () => storeOrMemory.isOver,
      failures,
      clock,
    }),
    forgetReadings: () => readings.forgetAll(),
    checkRunning: () => storeOrMemory.checkRunning(),
    log,
    failures,
  });
  return Object.assign(createNodeDashboard(answer, path), { fetch: createFetchDashboard(answer, path) });
}

/** The operator of the receiver's store, as long as that is open. */
function operatorOf(parts: ReceiverParts): () => InboxOperator {
  return () => {
    const { state } = parts.path.admission;
    const trouble = troubleOfStart(parts);
    if (trouble !== undefined) throw new PigeonholeError("stopped", `${trouble.message} ${trouble.advice}`);
    if (state === "stopped") throw hasStopped();
    return parts.inStore.operator;
  };
}

/** What the routes work with, but for what the secret of the store makes. */
type OpeningTools = Omit<InboxTools, "personal"> & { jobs: JobRunner };

/** Reads the secret of the store with the first request. */
function openOnce({ api, clock }: ReceiverParts["options"], tools: OpeningTools): () => Promise<readonly WebRoute[]> {
  const deliveries = api === undefined ? undefined : new DeliveryLog(api, clock);
  let opening: Promise<readonly WebRoute[]> | undefined;
  return () => {
    // Without an open store there is no operator, whatever was opened before.
    const inbox = tools.operator();
    opening ??= inbox.dashboardSecret().then((secret) => {
      const all = { ...tools, personal: new PersonalData(secret) };
      return [...inboxRoutes(all), deliveryRoute(tools.operator, deliveries), ...jobRoutes(all)];
    });
    opening.catch(() => (opening = undefined));
    return opening;
  };
}

/** Their names, in their order. */
function handlersOf({ path }: ReceiverParts): string[] {
  return path.registry.all.map(({ name }) => name);
}

/** Who looks is known without the store. */
function sessionRoute(
  { operator, handlers }: Pick<InboxTools, "operator" | "handlers">,
  storeOrMemory: StoreOrMemory,
): WebRoute {
  return {
    at: "GET /api/session",
    async handle({ person }): Promise<PageSession> {
      const database = await storeOrMemory.read(
        async () => operator().database,
        () => null,
      );
      return { version: readPackageVersion(), ...person, database, handlers: [...handlers()] };
    },
  };
}
