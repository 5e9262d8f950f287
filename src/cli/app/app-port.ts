import type { CommandContext } from "../frame/context.js";
import { readVariable } from "../values/secret-option.js";
import { connect } from "node:net";
import { SECOND } from "../../base/duration.js";

/** The variable that tells an app its port. */
export const PORT_VARIABLE = "PORT";

/** The port of an app that names none. */
export const DEFAULT_APP_PORT = "3000";

/** The port at which an app is expected if no flag says it. */
export function findAppPort(context: Pick<CommandContext, "env" | "cwd">): string {
  return readVariable(PORT_VARIABLE, context) ?? DEFAULT_APP_PORT;
}

/**
 * The variable for an app that is started, if it is expected there: it may not read `.env` by itself. Empty for an app
 * whose port was given in another way.
 */
export function portVariable(app: URL, context: Pick<CommandContext, "env" | "cwd">): Record<string, string> {
  const port = findAppPort(context);
  return String(portOf(app)) === port ? { [PORT_VARIABLE]: port } : {};
}

/** On this machine a port answers at once or not at all. */
const CONNECT_TIMEOUT_MS = 2 * SECOND;

/** Whether a program already listens at a port. */
export function isTaken({ hostname, port }: { hostname: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port });
    const settle = (taken: boolean) => (): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.setTimeout(CONNECT_TIMEOUT_MS, settle(false));
    socket.once("connect", settle(true)).once("error", settle(false));
  });
}

/** The port of a URL, which may leave out the usual one. */
export function portOf({ port, protocol }: URL): number {
  return Number(port === "" ? (protocol === "https:" ? 443 : 80) : port);
}
