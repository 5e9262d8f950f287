import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { createReceiver, DoNotRetry, type Receiver } from "pigeonhole";
import { beforeEach, onTestFinished } from "vitest";
import { systemClock } from "#pigeonhole/base/clock.js";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import type { SignatureVariant } from "#pigeonhole/dev/api/page-api.js";
import { DevSandbox } from "#pigeonhole/dev/sandbox/dev-sandbox.js";
import { signVariant } from "#pigeonhole/dev/api/sign-variant.js";
import { startDevServer, type DevServer } from "#pigeonhole/dev/start-dev-server.js";
import { EVENT_TYPES, type EventType } from "#pigeonhole/protocol/event-types.js";
import { sampleEvent } from "#pigeonhole/sandbox/samples/sample-event.js";
import { createFailingHandler, type FailingHandler } from "../../support/failing-handler.js";
import { findFreePort } from "../../support/free-port.js";
import { type OpenPage, describeInBrowser, ofEachTest } from "./browser.js";
import { registerExampleHandlers } from "./example-handlers.js";
import { startContactEventService } from "../../support/contact-event-service.js";

export const SECRET = `whsec_${"a1B2-_".repeat(7)}z`;

/** What the app says instead of the receiver. */
export interface AppAnswer {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

export interface Delivery {
  type?: EventType;
  /** Members of `data`. */
  data?: Record<string, unknown>;
  /** Instead of a sample. */
  body?: string | Uint8Array;
  variant?: SignatureVariant;
  headers?: Record<string, string>;
}

export interface WorkbenchOptions {
  captures?: readonly Capture[];
  hasApp?: boolean;
  hasInbox?: boolean;
  /** An emulated service beside the dev server. */
  hasSandbox?: boolean;
}

/** The dev server before a real app: a receiver with its database, which sends its contact events to a service. */
export async function startWorkbench(options: WorkbenchOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), "pigeonhole-page-"));
  const inbox = join(folder, "inbox.db");
  const service = await startContactEventService();
  const ledger = createFailingHandler(() => new Error("the ledger is closed"));
  const sandbox =
    options.hasSandbox === true
      ? await DevSandbox.start({ port: 0, eventTypes: EVENT_TYPES, onLog: () => undefined, clock: systemClock })
      : undefined;
  const { apiKey, baseUrl } = sandbox?.service ?? { apiKey: "svc_live_0123456789", baseUrl: service.baseUrl };
  const receiver = makeReceiver(inbox, { apiKey, baseUrl }, ledger);
  await receiver.start();

  let answer: AppAnswer | "none" | null = null;
  const takeDelivery = receiver.middleware();
  const app = createServer((req, res) => {
    if (answer === null) takeDelivery(req, res);
    else if (answer === "none") req.destroy();
    else void answerAs(answer, req, res);
  });
  app.listen(await findFreePort(), "127.0.0.1");
  await once(app, "listening");
  const target = `http://127.0.0.1:${(app.address() as AddressInfo).port}/webhooks/mail`;

  const { captures = [], hasApp = true, hasInbox = true } = options;
  await writeCaptures(folder, captures);
  const start = (pagePort: number) =>
    startDevServer({
      cwd: folder,
      port: 0,
      pagePort,
      max: Math.max(1000, captures.length * 2),
      secrets: [{ ref: "env:WEBHOOK_SECRET", value: SECRET }],
      forwards: hasApp ? [{ target }] : [],
      ...(hasInbox ? { inbox } : {}),
      sandbox,
    });
  let dev = await start(await findFreePort());

  return {
    get dev() {
      return dev;
    },
    /** Path of the receiver's database. */
    file: inbox,
    inbox: receiver.inbox,
    receiver,
    ledger,
    /** The emulated service; undefined unless it was asked for. */
    sandbox: sandbox?.service,
    pageUrl: dev.pageUrl ?? "",
    deliver: (delivery: Delivery = {}) => postDelivery(dev, delivery),
    /** Another dev server at the same place, after the first was closed. */
    async restart({ isTokenKept = true } = {}): Promise<void> {
      if (!isTokenKept) await rm(join(folder, ".pigeonhole", "page-token"));
      dev = await start(Number(new URL(dev.pageUrl ?? "").port));
    },
    /** From now on the app answers this, or nothing; null: the receiver answers. */
    answerWith(next: AppAnswer | "none" | null): void {
      answer = next;
    },
    /** Nothing listens any more where the app was. */
    async stopApp(): Promise<void> {
      app.closeAllConnections();
      app.close();
      await once(app, "close");
    },
    async close(): Promise<void> {
      await dev.close();
      app.closeAllConnections();
      app.close();
      await receiver.stop({ timeoutMs: 1000 });
      await sandbox?.close();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type Workbench = Awaited<ReturnType<typeof startWorkbench>>;

/** One that is closed when its test ends. */
export async function openWorkbench(options?: WorkbenchOptions): Promise<Workbench> {
  const bench = await startWorkbench(options);
  onTestFinished(() => bench.close());
  return bench;
}

/** The rows of the list of deliveries. */
export const ROWS = ".list-side [data-row]";

/** What a test of the page works with. */
interface AtBench {
  bench: Workbench;
  page: Page;
  /** As of an open page, of which a test may drop those that it has made. */
  problems: () => string[];
  /** The deliveries of the list. */
  rows: Locator;
}

interface BenchSuite extends WorkbenchOptions {
  /** Runs before the page is opened. */
  prepare?: (bench: Workbench) => Promise<void>;
}

/** Tests of the page, each with a fresh dev server. */
export function describeBench(name: string, { prepare, ...options }: BenchSuite, tests: (at: AtBench) => void): void {
  describeInBrowser(name, (open) => {
    let at: OpenPage & { bench: Workbench };
    beforeEach(async () => {
      const bench = await openWorkbench(options);
      await prepare?.(bench);
      at = { bench, ...(await open(bench.pageUrl)) };
    });
    tests({
      bench: ofEachTest(() => at.bench),
      page: ofEachTest<Page>(() => at.page),
      rows: ofEachTest<Locator>(() => at.page.locator(ROWS)),
      problems: () => at.problems,
    });
  });
}

function makeReceiver(store: string, api: { apiKey: string; baseUrl: string }, ledger: FailingHandler): Receiver {
  const receiver = createReceiver({ secrets: SECRET, store, api });
  registerExampleHandlers(receiver, () => {
    throw new DoNotRetry("no customer for this address");
  });
  receiver.on("email.complained", ledger.run, {
    name: "ledger",
    retry: { initialMs: 2000, factor: 1, maxAttempts: 4 },
  });
  receiver.on("suppression.added", ledger.run, {
    name: "blocklist",
    key: () => "all",
    only: "newest",
    retry: { initialMs: 600_000, maxAttempts: 4 },
  });
  return receiver;
}

async function answerAs(
  { status, body, headers = {} }: AppAnswer,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  req.resume();
  await once(req, "end");
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

async function writeCaptures(folder: string, captures: readonly Capture[]): Promise<void> {
  const place = join(folder, ".pigeonhole", "captures");
  await mkdir(place, { recursive: true });
  for (const capture of captures) writeFileSync(join(place, `${capture.id}.json`), JSON.stringify(capture));
}

async function postDelivery(dev: DevServer, delivery: Delivery): Promise<Response> {
  const { type = "email.received", data, variant = "valid", headers = {} } = delivery;
  const body = Buffer.from(delivery.body ?? JSON.stringify(sampleEvent(type, data)));
  const signed = signVariant({ body, secret: SECRET, variant, nowMs: Date.now() });
  return fetch(dev.captureUrl, {
    method: "POST",
    headers: { ...Object.fromEntries(signed.headers), ...headers },
    body: Buffer.from(signed.body),
  });
}
