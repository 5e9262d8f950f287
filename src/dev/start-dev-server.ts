import { resolve } from "node:path";
import { SECOND } from "../base/duration.js";
import { type CaptureFolder, openCaptureFolder } from "../capture/folder/capture-folder.js";
import type { NamedSecret } from "../capture/model/judge-signature.js";
import { summarizeCapture } from "../capture/model/summarize-capture.js";
import { checkLocalTarget } from "../capture/send/target.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import { resolvePlace } from "../store/connection-string.js";
import { devRoutes } from "./api/dev-routes.js";
import type { Session } from "./api/page-api.js";
import { createCaptureListener } from "./capture-port/capture-listener.js";
import { forwardedOrigin } from "./capture-port/sender-address.js";
import { Cleanup } from "./cleanup.js";
import { DevInbox } from "./dev-inbox.js";
import { type CaptureLog, type CaptureWatcher, createCaptureLog } from "./forward/capture-log.js";
import { type ReceiveDelivery, createForwarder } from "./forward/forwarder.js";
import { checkNotOwnPort } from "./forward/forward-rules.js";
import type { Report } from "./lines/dev-event.js";
import { listen, listenOnLoopback } from "./listen.js";
import { type DevServerOptions, type ResolvedDevServer, resolveDevServerOptions } from "./options.js";
import { EventStream } from "./page-port/event-stream.js";
import { BuiltFiles } from "../web/built-files.js";
import { createPageListener } from "./page-port/page-listener.js";
import { projectTokens } from "./page-port/project-tokens.js";
import { PublicUrl } from "./public-url.js";
import { type Replay, createReplay } from "./forward/replay.js";
import { type SendSample, createSendSample } from "./api/send-sample.js";
import { describeSession, readyEvent } from "./session.js";
import { startTunnel } from "./tunnel/start-tunnel.js";

/** How long open requests have to end when the server closes. */
const GRACE_MS = 2 * SECOND;
/** Bytes of JSON around an edited body. */
const BODY_MARGIN = 1024 * 1024;

/**
 * Captures deliveries, shows them on a page and forwards them to the app. Prints nothing: `options.report` receives the
 * dev server's events. Rejects with `invalid_option`, `invalid_argument`, `port_in_use`, `tunnel_failed`, an error of
 * the API or the signal's reason; then nothing is left running.
 */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const cleanup = new Cleanup();
  try {
    const server = new DevServer(options, cleanup);
    await server.start();
    return server;
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** A running dev server. */
export class DevServer {
  readonly captures: CaptureFolder;
  /** Sends captures again. */
  readonly replay: Replay;
  /** Processes a sample event as if the service had sent it. Resolves with the ids of its captures. */
  readonly send: SendSample;
  /** Where deliveries are received on this machine. */
  captureUrl = "";
  /** The page with its token, to be opened in a browser; null without a page. */
  pageUrl: string | null = null;
  readonly #options: DevServerOptions;
  readonly #resolved: ResolvedDevServer;
  readonly #cleanup: Cleanup;
  readonly #cwd: string;
  readonly #secrets: NamedSecret[];
  readonly #stopping = new AbortController();
  readonly #ownPorts: number[] = [];
  readonly #stream: EventStream;
  readonly #inbox: DevInbox;
  readonly #public: PublicUrl;
  readonly #log: CaptureLog;
  readonly #forward: ReceiveDelivery;
  #closed: Promise<void> | undefined;

  constructor(options: DevServerOptions, cleanup: Cleanup) {
    const resolved = resolveDevServerOptions(options);
    const { clock, path, rules, assumptions, timeoutMs, allowRemote, headers } = resolved;
    this.#options = options;
    this.#resolved = resolved;
    this.#cleanup = cleanup;
    this.#cwd = resolve(resolved.cwd);
    this.#secrets = [...resolved.secrets];
    this.#stream = new EventStream(clock);
    const report = this.#report;
    const changed = (): void => this.#stream.publish("session", this.#session());
    this.#public = new PublicUrl(options.publicUrl, { path, changed, report });
    this.#inbox = new DevInbox({
      clock,
      report: resolved.report,
      changed: (work) => this.#stream.publish("work", work),
      captures: () => this.captures.list().map(summarizeCapture),
    });
    cleanup.add(() => this.#inbox.close());
    const { max, keepMs } = resolved;
    this.captures = openCaptureFolder(this.#folder, { max, keepMs, clock });
    cleanup.add(() => this.captures.flush());

    const { signal } = this.#stopping;
    const secrets = this.#knownSecrets;
    const sending = { secrets, assumptions, timeoutMs, allowRemote, headers, clock, signal };
    this.#log = createCaptureLog({ folder: this.captures, watcher: this.#watcher(), report });
    this.#forward = createForwarder({ ...resolved, ...sending, log: this.#log, report });
    this.replay = createReplay({ ...sending, log: this.#log, rules, ownPorts: () => this.#ownPorts, report });
    this.send = createSendSample({
      receive: this.#forward,
      secrets,
      assumptions,
      captureUrl: () => this.captureUrl,
      clock,
    });
  }

  async start(): Promise<void> {
    const { inbox, signal } = this.#options;
    if (inbox !== undefined) await this.#inbox.open(resolvePlace(this.#cwd, inbox));
    this.#cleanup.add(this.#log.watch());
    const port = await this.#listen();
    await this.#servePage();
    await this.#checkForwards();
    await this.#openTunnel(port);
    signal?.throwIfAborted();
    await this.#register();
    this.#connectSandbox();
    signal?.throwIfAborted();
    await this.#announce();
  }

  /** Where the service can reach it; null without a tunnel. */
  get publicUrl(): string | null {
    return this.#public.value;
  }

  /** Deletes the endpoint, ends the tunnel and closes the ports; may be called again. */
  close(): Promise<void> {
    return (this.#closed ??= this.#cleanup.run().then(() => this.#report({ kind: "closed" })));
  }

  get #folder(): string {
    return resolve(this.#cwd, this.#resolved.folder);
  }

  readonly #knownSecrets = (): readonly NamedSecret[] => this.#secrets;

  readonly #report: Report = (event) => {
    this.#resolved.report(event);
    this.#inbox.see(event);
  };

  #watcher(): CaptureWatcher {
    return {
      changed: (summary) => this.#stream.publish("capture", summary),
      removed: (ids) => this.#stream.publish("removed", { ids }),
    };
  }

  readonly #receive: ReceiveDelivery = async (arrived) => {
    const answer = await this.#forward(arrived);
    const isGenuine = this.captures.get(answer.captureId)?.verify.code === "ok";
    const origin = this.publicUrl === null && isGenuine ? forwardedOrigin(arrived.request.headers) : undefined;
    if (origin !== undefined) this.#public.set(origin);
    return answer;
  };

  /** Opens the port for deliveries. */
  async #listen(): Promise<number> {
    const { path, maxBodyBytes, assumptions, port, host } = this.#resolved;
    const { signatureHeader } = resolveSignatureAssumptions(assumptions);
    const answers = { path, maxBodyBytes, signatureHeader, receive: this.#receive, report: this.#report };
    const capturing = await listen(createCaptureListener(answers), { port, host, option: "port" });
    this.#cleanup.add(async () => {
      const closed = capturing.close(GRACE_MS);
      const stop = (): void => this.#stopping.abort(new Error("The dev server was closed."));
      const timer = setTimeout(stop, GRACE_MS / 2);
      await closed;
      clearTimeout(timer);
      stop();
    });
    this.#ownPorts.push(capturing.port);
    this.captureUrl = `http://${host.includes(":") ? `[${host}]` : host}:${capturing.port}${path}`;
    return capturing.port;
  }

  readonly #session = (): Session =>
    describeSession({
      captureUrl: this.captureUrl,
      publicUrl: this.publicUrl,
      path: this.#resolved.path,
      rules: this.#resolved.rules,
      secrets: this.#secrets,
      database: this.#inbox.inbox?.database ?? null,
      sandbox: this.#resolved.sandbox !== undefined,
      captures: this.captures.size,
    });

  async #servePage(): Promise<void> {
    const { pagePort } = this.#resolved;
    if (pagePort === false) return;
    const guard = { port: 0, ...(await projectTokens(this.#folder)) };
    const files = new BuiltFiles("dev", this.#options.pageFolder);
    const routes = devRoutes({
      ...this.#resolved,
      session: this.#session,
      log: this.#log,
      replay: this.replay,
      sendSample: this.send,
      secrets: this.#knownSecrets,
      captureUrl: this.captureUrl,
      receiver: this.#inbox,
    });
    const maxBodyBytes = this.#resolved.maxBodyBytes + BODY_MARGIN;
    const shown = { guard: () => guard, routes, stream: this.#stream, files, maxBodyBytes };
    const paging = await listenOnLoopback(createPageListener(shown), pagePort, "pagePort");
    this.#cleanup.add(async () => {
      this.#stream.close();
      await paging.close(0);
    });
    guard.port = paging.port;
    this.#ownPorts.push(paging.port);
    this.pageUrl = `http://127.0.0.1:${paging.port}/?t=${guard.urlToken}`;
  }

  async #checkForwards(): Promise<void> {
    for (const { target } of this.#resolved.rules) {
      await checkNotOwnPort(target, this.#ownPorts);
      if (!this.#resolved.allowRemote) await checkLocalTarget(target);
    }
  }

  async #openTunnel(port: number): Promise<void> {
    const { tunnel, signal } = this.#options;
    if (tunnel === undefined) return;
    const { tunnelTimeoutMs: timeoutMs, clock } = this.#resolved;
    const onUrl = (url: string): void => this.#public.set(url);
    const opened = await startTunnel({ tunnel, port, timeoutMs, signal, clock, report: this.#report, onUrl });
    this.#cleanup.add(() => opened.close());
    this.#public.begin(opened.publicUrl);
  }

  async #register(): Promise<void> {
    if (this.#options.register === undefined) return;
    const registered = await this.#public.register(this.#options.register, this.#cwd);
    if (registered === undefined) return;
    this.#cleanup.add(() => this.#public.unregister());
    // First, since it is the newest. Kept in memory only.
    this.#secrets.unshift({ ref: `registered ${registered.endpointId}`, value: registered.secret });
  }

  #connectSandbox(): void {
    const [first] = this.#secrets;
    const changed = (): void => this.#stream.publish("sandbox", {});
    const secret = this.#resolved.sandbox?.connect({ url: this.captureUrl, secret: first?.value, changed });
    if (first === undefined && secret !== undefined)
      this.#secrets.push({ ref: "the sandbox's endpoint", value: secret });
  }

  /** Says that it is ready, and looks for the inbox that the app has not made yet. */
  async #announce(): Promise<void> {
    const { pageUrl } = this;
    const { findInbox } = this.#options;
    const broken = this.captures.broken.map(({ file, reason }) => ({ file, reason }));
    const inbox = this.#inbox.inbox?.database ?? null;
    const sandbox = this.#resolved.sandbox?.service.baseUrl ?? null;
    this.#report(readyEvent(this.#session(), { pageUrl, inbox, sandbox, broken }));
    if (inbox !== null || findInbox === undefined) return;
    this.#inbox.lookFor(findInbox, ({ database }) => {
      this.#report({ kind: "inbox_found", inbox: database });
      this.#stream.publish("session", this.#session());
      this.#inbox.work?.known.forEach((work) => this.#stream.publish("work", work));
    });
  }
}
