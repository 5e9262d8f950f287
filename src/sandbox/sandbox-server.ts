import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, type Resolved, defineOptions, readBy, wholeNumber } from "../base/options.js";
import { type RequestHandler, answerNode } from "./calls/request-handler.js";
import { CONTROL_PATH, createControl } from "./control/control.js";
import type { Sandbox, SandboxListenOptions } from "./control/sandbox.js";

type Host = NonNullable<SandboxListenOptions["host"]>;

const HOSTS: readonly Host[] = ["127.0.0.1", "::1", "localhost"];

/** The defaults and checks of {@link SandboxListenOptions}. */
export const LISTEN_OPTIONS = defineOptions("sandbox.listen", {
  port: wholeNumber({ default: 0, min: 0, max: 65_535 }),
  host: readBy(checkHost, { default: "127.0.0.1" }),
} satisfies OptionsOf<SandboxListenOptions>);

interface SandboxServerInput extends Resolved<typeof LISTEN_OPTIONS> {
  api: RequestHandler;
  sandbox: Sandbox;
}

/** The API and the control API on one port of this machine. */
export interface SandboxServer {
  url: string;
  port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Rejects with `port_in_use`. */
export async function openServer({ port, host, api, sandbox }: SandboxServerInput): Promise<SandboxServer> {
  const server = createServer(listenerOf(api, sandbox));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error & { code?: string }) => {
      const text = `Port ${port} is in use by another program; choose another, or 0 for a free one.`;
      reject(error.code === "EADDRINUSE" ? new PigeonholeError("port_in_use", text, { cause: error }) : error);
    });
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    port: taken,
    async close() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listenerOf(api: RequestHandler, sandbox: Sandbox): (req: IncomingMessage, res: ServerResponse) => void {
  const control = createControl(sandbox);
  return (req, res) => {
    const own = (req.url ?? "").startsWith(CONTROL_PATH) ? control : api;
    answerNode(isForeign(req) ? TO_FOREIGN : own, req, res);
  };
}

function checkHost(option: string, host: Host): Host {
  if (HOSTS.includes(host)) return host;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be one of ${HOSTS.join(", ")}: its answers contain secrets.`,
  );
}

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** True for a page of a website: of another origin, or by a host name that resolves to this machine (DNS rebinding). */
function isForeign({ headers: { host = "", origin } }: IncomingMessage): boolean {
  return !LOCAL_HOST.test(host) || (origin !== undefined && origin !== `http://${host}`);
}

const TO_FOREIGN: RequestHandler = {
  handle() {
    const message = "Only programs on this machine may call this API: the Host or the Origin is another one.";
    return Promise.resolve({ status: 403, body: { code: "foreign_request", message } });
  },
};
