import { PigeonholeError } from "../../base/error.js";
import { isTaken } from "../app/is-taken.js";

/** A port that will be listened at. */
export interface WantedPort {
  hostname: string;
  /** 0 for any free one. */
  port: number;
  /** The variable or the flag that changes it. */
  by: string;
}

/**
 * Throws one `port_in_use` that names all ports in use. Looked at before anything starts: what listens there already
 * would be taken for our own.
 */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const checks = await Promise.all(
    wanted.map(async (one) => ({ ...one, taken: one.port !== 0 && (await isTaken(one)) })),
  );
  const taken = checks.filter((check) => check.taken).map(({ port, by }) => `${port} (${by})`);
  if (taken.length === 0) return;
  throw new PigeonholeError(
    "port_in_use",
    `In use by another program: ${taken.join(", ")}. Does dev run already? End what listens there, or give other ports in .env or by flags.`,
  );
}
