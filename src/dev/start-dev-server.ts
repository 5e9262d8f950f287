import { resolve } from "node:path";
import { SECOND } from "../base/duration.js";
import { errorMessage } from "../base/error-text.js";
import type { Capture } from "../capture/model/capture.js";
import { openCaptureFolder } from "../capture/folder/capture-folder.js";
import type { CaptureFolder } from "../capture/folder/capture-folder.js";
import type { NamedSecret } from "../capture/model/judge-signature.js";
import { summarizeCapture } from "../capture/model/summarize-capture.js";
import type { ReplayReport } from "../capture/replay/replay-captures.js";
import { checkLocalTarget } from "../capture/send/target.js";
import { resolveSignatureAssumptions } from "../protocol/resolve-assumptions.js";
import { resolvePlace } from "../store/resolve-place.js";
import { actionRoutes } from "./api/action-routes.js";
import { captureRoutes } from "./api/capture-routes.js";
import { exportRoutes } from "./api/export-routes.js";
import { inboxRoutes } from "./api/inbox-routes.js";
import { sandboxRoutes } from "./api/sandbox-routes.js";
import type { EventWork, Session } from "./api/page-api.js";
import type { PageApiRoute } from "./api/page-api-route.js";
import { createCaptureListener } from "./capture-port/capture-listener.js";
import { forwardedOrigin } from "./capture-port/sender-address.js";
import { Cleanup } from "./cleanup.js";
import { DevInbox } from "./dev-inbox.js";
import { createCaptureLog } from "./forward/capture-log.js";
import { createAppSender } from "./forward/app-sender.js";
import { Forwarder, type ReceiveDelivery } from "./forward/forwarder.js";
import { isHeld } from "./forward/held-tag.js";
import { checkNotOwnPort } from "./forward/forward-rules.js";
import type { Report } from "./lines/dev-event.js";
import { listen, listenOnLoopback } from "./listen.js";
import { type DevServerOptions, resolveDevServerOptions } from "./options.js";
import { EventStream } from "./page-port/event-stream.js";
import { createPageFiles } from "./page-port/page-files.js";
import { createPageListener } from "./page-port/page-listener.js";
import { projectTokens } from "./page-port/project-tokens.js";
import { withCapturePath } from "./with-capture-path.js";
import { readyEvent } from "./ready-event.js";
import { writeReadyFile } from "./ready-file.js";
import { type Registration, registerEndpoint } from "./register/registration.js";
import { type ReplayRequest, createReplay } from "./forward/replay.js";
import { type SampleDelivery, createSendSample } from "./api/send-sample.js";
import { describeSession } from "./session.js";
import { startTunnel } from "./tunnel/start-tunnel.js";

/** How long open requests have to end when the server closes. */
const GRACE_MS = 2 * SECOND;
/** Bytes of JSON around an edited body. */
const BODY_MARGIN = 1024 * 1024;

/** A running dev server. */
export interface DevServer {
  /** Where deliveries are received on this machine. */
  readonly captureUrl: string;
  /** Where the service can reach it; null without a tunnel. */
  readonly publicUrl: string | null;
  /** The page with its token, to be opened in a browser; null without a page. */
  readonly pageUrl: string | null;
  readonly captures: CaptureFolder;
  /** Deliveries that wait for an app. */
  readonly held: number;
  readonly paused: boolean;
  /** Sends captures again. */
  replay(request: ReplayRequest): Promise<ReplayReport>;
  /** Processes a sample event as if the service had sent it. Resolves with the ids of its captures. */
  send(delivery: SampleDelivery): Promise<string[]>;
  /** Holds deliveries that arrive from now on, until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Deletes the endpoint, ends the tunnel and closes the ports; may be called again. */
  close(): Promise<void>;
}

/**
 * Captures deliveries, shows them on a page and forwards them to the app. Prints nothing: `options.report` receives the
 * dev server's events. Rejects with `invalid_option`, `invalid_argument`, `port_in_use`, `tunnel_failed`, an error of
 * the API or the signal's reason; then nothing is left running.
 */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const cleanup = new Cleanup();
  try {
    return await start(options, cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

async function start(options: DevServerOptions, cleanup: Cleanup): Promise<DevServer> {
  const resolved = resolveDevServerOptions(options);
  const { rules, assumptions, clock, path, timeoutMs, allowRemote, insecure, ca, headers, maxBodyBytes } = resolved;
  const { sandbox } = resolved;
  const cwd = resolve(resolved.cwd);
  const secrets: NamedSecret[] = [...resolved.secrets];
  const knownSecrets = (): readonly NamedSecret[] => secrets;
  const stopping = new AbortController();
  const { signal } = stopping;
  let registration: Registration | undefined;
  let publicUrl = options.publicUrl === undefined ? null : withCapturePath(options.publicUrl, path);

  const stream = new EventStream(clock);
  const changed = (now: EventWork): void => stream.publish("work", now);
  const captures = () => folder.list().map(summarizeCapture);
  const receiver = new DevInbox({ clock, report: resolved.report, changed, captures });
  cleanup.add(() => receiver.close());
  const report: Report = (event) => {
    resolved.report(event);
    receiver.see(event);
  };

  const folder = openCaptureFolder(resolve(cwd, resolved.folder), {
    max: resolved.max,
    keepMs: resolved.keepMs,
    mustStay: isHeld,
    clock,
  });
  cleanup.add(() => folder.flush());

  if (options.inbox !== undefined) await receiver.open(resolvePlace(cwd, options.inbox));

  const watcher = {
    changed: (summary: object) => stream.publish("capture", summary),
    removed(ids: string[]) {
      forwarder.forget(ids);
      stream.publish("removed", { ids });
    },
    changedElsewhere: (capture: Capture) => forwarder.changedElsewhere(capture),
  };
  const log = createCaptureLog({ folder, watcher, report });
  const sending = { secrets: knownSecrets, assumptions, timeoutMs, allowRemote, insecure, ca, headers, clock, signal };
  const forwarder = new Forwarder({
    log,
    appSender: createAppSender(sending),
    rules,
    isWanted: resolved.isWanted,
    secrets: knownSecrets,
    assumptions,
    onInvalid: resolved.onInvalid,
    whenDown: resolved.whenDown,
    // Half, since held deliveries are never pruned.
    maxHeld: Math.max(1, Math.floor(resolved.max / 2)),
    clock,
    report,
  });

  cleanup.add(log.watch());

  const receiveLive: ReceiveDelivery = async (arrived) => {
    const answer = await forwarder.receive(arrived);
    const isGenuine = folder.get(answer.captureId)?.verify.code === "ok";
    const origin = publicUrl === null && isGenuine ? forwardedOrigin(arrived.request.headers) : undefined;
    if (origin !== undefined) setPublicUrl(withCapturePath(origin, path));
    return answer;
  };
  const capturing = await listen(
    createCaptureListener({
      path,
      maxBodyBytes,
      signatureHeader: resolveSignatureAssumptions(assumptions).signatureHeader,
      receive: receiveLive,
      report,
    }),
    { port: resolved.port, host: resolved.host, option: "port" },
  );
  cleanup.add(async () => {
    // Also waits for a held delivery that is being sent: one that the app received must no longer be marked held.
    const closed = Promise.all([capturing.close(GRACE_MS), forwarder.idle()]);
    const timer = setTimeout(() => stopping.abort(new Error("The dev server was closed.")), GRACE_MS / 2);
    await closed;
    clearTimeout(timer);
    stopping.abort(new Error("The dev server was closed."));
  });
  const captureUrl = `http://${urlHost(resolved.host)}:${capturing.port}${path}`;

  const ownPorts = [capturing.port];
  const replay = createReplay({ ...sending, log, rules, ownPorts: () => ownPorts, report });
  const sendSample = createSendSample({
    receive: forwarder.receive,
    secrets: knownSecrets,
    assumptions,
    captureUrl: () => captureUrl,
    clock,
  });

  const session = (): Session =>
    describeSession({
      captureUrl,
      publicUrl,
      path,
      rules,
      secrets,
      inbox: receiver.inbox !== undefined,
      sandbox: sandbox !== undefined,
      captures: folder.size,
    });
  const now = (): number => clock.now();
  const routes: PageApiRoute[] = [
    { method: "GET", path: "/api/session", handle: session },
    ...captureRoutes({ log, secrets: knownSecrets, assumptions, now }),
    ...exportRoutes({ log, secrets: knownSecrets, assumptions, rules, captureUrl, maxBodyBytes, now }),
    ...actionRoutes({ folder, replay, sendSample, maxBodyBytes, now }),
    ...inboxRoutes({ receiver, folder }),
    ...sandboxRoutes(sandbox),
  ];

  let pageUrl: string | null = null;
  if (resolved.pagePort !== false) {
    const guard = { port: 0, ...(await projectTokens(resolve(cwd, resolved.folder))) };
    const files = createPageFiles(options.pageFolder);
    const paging = await listenOnLoopback(
      createPageListener({ guard: () => guard, routes, stream, files, maxBodyBytes: maxBodyBytes + BODY_MARGIN }),
      resolved.pagePort,
      "pagePort",
    );
    cleanup.add(async () => {
      stream.close();
      await paging.close(0);
    });
    guard.port = paging.port;
    ownPorts.push(paging.port);
    pageUrl = `http://127.0.0.1:${paging.port}/?t=${guard.urlToken}`;
  }
  for (const { target } of rules) {
    await checkNotOwnPort(target, ownPorts);
    if (!allowRemote) await checkLocalTarget(target);
  }

  function setPublicUrl(url: string): void {
    publicUrl = url;
    stream.publish("session", session());
    registration?.move(url).catch((error: unknown) =>
      report({
        kind: "problem",
        what: `The endpoint ${registration?.endpointId} could not be moved to ${url}: ${errorMessage(error)}`,
        fix: "Change its URL at the service, or start again.",
      }),
    );
  }

  if (options.tunnel !== undefined) {
    const tunnel = await startTunnel({
      tunnel: options.tunnel,
      port: capturing.port,
      timeoutMs: resolved.tunnelTimeoutMs,
      signal: options.signal,
      clock,
      report,
      onUrl: (url) => setPublicUrl(withCapturePath(url, path)),
    });
    cleanup.add(() => tunnel.close());
    publicUrl = withCapturePath(tunnel.publicUrl, path);
  }

  options.signal?.throwIfAborted();
  if (options.register !== undefined && publicUrl !== null) {
    const { client, eventTypes = [] } = options.register;
    const registered = await registerEndpoint({ client, url: publicUrl, eventTypes, cwd, report });
    registration = registered;
    cleanup.add(() => unregister(registered, report));
    // First, since it is the newest. Kept in memory only.
    secrets.unshift({ ref: `registered ${registered.endpointId}`, value: registered.secret });
  }

  if (sandbox !== undefined) {
    const [first] = secrets;
    const changed = (): void => stream.publish("sandbox", {});
    const secret = sandbox.connect({ url: captureUrl, secret: first?.value, changed });
    if (first === undefined) secrets.push({ ref: "the sandbox's endpoint", value: secret });
  }

  options.signal?.throwIfAborted();
  forwarder.queueHeld();
  cleanup.add(() => forwarder.close());

  if (options.readyFile !== undefined) {
    const ready = { pid: process.pid, captureUrl, publicUrl, pageUrl };
    cleanup.add(await writeReadyFile(resolve(cwd, options.readyFile), ready));
  }
  const known = { inbox: receiver.inbox?.database ?? null, sandbox: sandbox?.service.baseUrl ?? null };
  report(readyEvent({ session: session(), pageUrl, ...known, folder }));
  if (receiver.inbox === undefined && options.findInbox !== undefined) {
    receiver.lookFor(options.findInbox, ({ database }) => {
      report({ kind: "inbox_found", inbox: database });
      stream.publish("session", session());
      receiver.work?.known.forEach(changed);
    });
  }

  let closed: Promise<void> | undefined;
  return {
    captureUrl,
    get publicUrl() {
      return publicUrl;
    },
    pageUrl,
    captures: folder,
    get held() {
      return forwarder.held;
    },
    get paused() {
      return forwarder.paused;
    },
    replay,
    send: sendSample,
    pause: () => forwarder.pause(),
    resume: () => forwarder.resume(),
    close: () => (closed ??= cleanup.run().then(() => report({ kind: "closed" }))),
  };
}

async function unregister(registration: Registration, report: Report): Promise<void> {
  try {
    await registration.close();
  } catch (error) {
    report({
      kind: "problem",
      what: `The endpoint ${registration.endpointId} could not be deleted: ${errorMessage(error)}`,
      fix: "The next run in this folder deletes it, or delete it at the service.",
    });
  }
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
