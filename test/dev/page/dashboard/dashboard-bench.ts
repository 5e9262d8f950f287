import { mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createReceiver, DoNotRetry, type Logger, type Receiver, type ReceiverOptions, type Store } from "pigeonhole";
import { createDashboard, type DashboardPerson, type DashboardOptions } from "pigeonhole/dashboard";
import type { Sandbox } from "pigeonhole/sandbox";
import { sampleEvent } from "pigeonhole/testing";
import { beforeEach, onTestFinished } from "vitest";
import type { EventType } from "#pigeonhole/protocol/event-types.js";
import type { NodeMiddleware } from "#pigeonhole/http/node-mount.js";
import { signHere } from "#pigeonhole/protocol/sign-here.js";
import { startContactEventService } from "../../../support/contact-event-service.js";
import { closeServer, listen } from "../../../support/listen.js";
import { waitUntil } from "../../../support/wait-until.js";
import { type OpenPage, describeInBrowser, ofEachTest } from "../browser.js";
import { registerExampleHandlers } from "../example-handlers.js";
import { SECRET } from "../workbench.js";

/** Where the dashboard is mounted: neither at the root, nor with a slash at its end. */
const MOUNT = "/ops/webhooks";

/** Names of the database. */
const [FILE, AWAY] = ["inbox.db", "away.db"];

export interface DashboardBenchOptions extends Pick<DashboardOptions, "payloads"> {
  /** Message of the errors of the handler `crm`. @default `no customer 4001 for this address`, with other numbers */
  failure?: string;
  /** The emulated service, and the secret of its endpoint. @default a service that only takes contact events */
  service?: { sandbox: Sandbox; secret: string };
  /** Keeps the inbox in place of a file of its own, which `setStoreLost` takes away. */
  store?: Store;
  /** Registers handlers beside those of the bench. */
  register?: (receiver: Receiver) => void;
}

/** An app with a receiver whose handlers fail in several ways, and its dashboard under a path. */
export async function startDashboardBench(given: DashboardBenchOptions = {}) {
  const { failure, service: emulated, store, register, ...options } = given;
  const folder = await mkdtemp(join(tmpdir(), "pigeonhole-dashboard-"));
  const service = await startContactEventService();
  const crm = { isFixed: false, failure };
  const receiver = makeReceiver({
    store: store ?? join(folder, FILE),
    secrets: emulated?.secret ?? SECRET,
    api: emulated?.sandbox.clientOptions ?? { apiKey: "svc_live_0123456789", baseUrl: service.baseUrl },
    crm,
  });
  register?.(receiver);
  await receiver.start();

  let person: DashboardPerson | undefined = { role: "operate", name: "ann" };
  const dashboard = createDashboard<unknown>(receiver, { allow: () => person, path: MOUNT, ...options });
  let isDown = false;
  let login: NodeMiddleware = (_req, _res, next) => next?.();
  const server = createServer((req, res) => {
    if (isDown) req.socket.destroy();
    else login(req, res, () => dashboard(req, res));
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;

  return {
    receiver,
    /** Of the page, with the slash. */
    url: `${origin}${MOUNT}/`,
    /** Who looks at it; undefined is nobody. */
    allow: (next: DashboardPerson | undefined) => void (person = next),
    /** Faults of the next calls to the service that only takes contact events. */
    apiFaults: service.faults,
    /** From now on the handler `crm` does its work. */
    fixCrm: () => void (crm.isFixed = true),
    /** From now on nothing is answered, until it is called with false. */
    setDown(next: boolean): void {
      isDown = next;
      if (next) server.closeAllConnections();
    },
    /** From now on this is before the dashboard. */
    setLogin: (next: NodeMiddleware) => void (login = next),
    /** Takes the database away, until it is called with false. */
    setStoreLost: (isLost: boolean) => rename(join(folder, isLost ? FILE : AWAY), join(folder, isLost ? AWAY : FILE)),
    async deliver(type: EventType, data?: Record<string, unknown>): Promise<string> {
      return this.deliverEvent(sampleEvent(type, data));
    },
    /** Whatever the service might send. */
    async deliverEvent(event: { id: string }): Promise<string> {
      await this.deliverBody(JSON.stringify(event));
      return event.id;
    },
    /** Also what is not JSON. */
    async deliverBody(body: string): Promise<void> {
      const headers = signHere({ body, secret: SECRET, timestamp: Date.now() });
      await receiver.fetch(new Request(origin, { method: "POST", body, headers }));
    },
    /** Delivers an event of which a contact event is recorded, and waits until that was tried. */
    async deliverTried(type: EventType): Promise<string> {
      const id = await this.deliver(type);
      await waitUntil("the contact event is tried", async () => {
        const [recorded] = (await receiver.contactEvents.list({ inboxEventId: id })).items;
        return recorded?.state === "dead" || recorded?.dueAt !== undefined;
      });
      return id;
    },
    async close(): Promise<void> {
      await receiver.stop({ timeoutMs: 1000 });
      await closeServer(server);
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type DashboardBench = Awaited<ReturnType<typeof startDashboardBench>>;

/** What a test of the dashboard works with. */
interface AtDashboard {
  bench: DashboardBench;
  page: Page;
  problems: () => string[];
  /** Takes another bench in place of the first one. */
  restart: (options: DashboardBenchOptions) => Promise<void>;
  /** Opens a page at an address. */
  openAt: (url: string) => Promise<void>;
  /** Opens the dashboard at a hash. */
  show: (hash: string, height?: number) => Promise<void>;
  /** Goes to another hash of the open page. */
  go: (hash: string) => Promise<unknown>;
  /** Answers the question that is asked. */
  confirm: (verb: string) => Promise<void>;
}

/** Tests of the dashboard, each with a fresh app. `mayFail`: their pages may have problems. */
export function describeDashboard(name: string, mayFail: boolean, tests: (at: AtDashboard) => void): void {
  describeInBrowser(name, (open) => {
    let bench: DashboardBench;
    let opened: OpenPage;
    const restart = async (options: DashboardBenchOptions = { payloads: "full" }): Promise<void> => {
      const started = await startDashboardBench(options);
      onTestFinished(() => started.close());
      bench = started;
    };
    const openAt = async (url: string, height = 800): Promise<void> => {
      opened = await open(url, { mayFail, viewport: { width: 1280, height } });
    };
    beforeEach(() => restart());
    tests({
      bench: ofEachTest(() => bench),
      page: ofEachTest<Page>(() => opened.page),
      problems: () => opened.problems,
      restart,
      openAt,
      async show(hash, height) {
        await openAt(`${bench.url}${hash}`, height);
        await opened.page.getByText("live", { exact: true }).waitFor();
      },
      go: (hash) => opened.page.evaluate(`location.hash = ${JSON.stringify(hash)}`),
      confirm: (verb) => opened.page.getByRole("dialog").getByRole("button", { name: verb }).click(),
    });
  });
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT };

interface BenchReceiver extends Pick<ReceiverOptions, "secrets" | "api"> {
  store: string | Store;
  crm: { isFixed: boolean; failure: string | undefined };
}

function makeReceiver({ crm, ...options }: BenchReceiver): Receiver {
  const receiver = createReceiver({ ...options, logger: SILENT });
  let customer = 4000;
  registerExampleHandlers(receiver, () => {
    if (!crm.isFixed) throw new DoNotRetry(crm.failure ?? `no customer ${++customer} for this address`);
  });
  receiver.on("email.complained", () => Promise.reject(new TypeError("the ledger is closed")), {
    name: "ledger",
    retry: { initialMs: 600_000 },
  });
  return receiver;
}
