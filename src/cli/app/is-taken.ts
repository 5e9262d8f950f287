import { connect } from "node:net";
import { SECOND } from "../../base/duration.js";

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
