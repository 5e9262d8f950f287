import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { PigeonholeError } from "../../base/error.js";

/** From this Node on, better-sqlite3 before 13 ends the process when a statement is collected. */
const NODE_THAT_ENDS_OLD = [24, 19] as const;

/** better-sqlite3 13 is built for Node-API of this Node and newer; an older one dies of it. */
const OLDEST_NODE_OF_13 = 22;

/**
 * Throws `driver_unusable` where this Node dies of the installed better-sqlite3, which no `catch` can stop. So it comes before the
 * native module is loaded; better-sqlite3 loads that with the first connection.
 */
export function checkDriver(): void {
  const driver = installedDriver();
  if (driver !== undefined) checkPair(driver, process.versions.node);
}

/** {@link checkDriver} for these versions. */
export function checkPair(driver: string, node: string): void {
  const isOld = numberAt(driver, 0) < 13;
  if (isOld && isSince(node, NODE_THAT_ENDS_OLD)) {
    throw new PigeonholeError(
      "driver_unusable",
      `better-sqlite3 ${driver} ends the process on Node ${node}, so it was not loaded. Run npm install better-sqlite3@13 on this Node; ${LOCKED}`,
    );
  }
  if (!isOld && numberAt(node, 0) < OLDEST_NODE_OF_13) {
    throw new PigeonholeError(
      "driver_unusable",
      `better-sqlite3 ${driver} needs Node ${OLDEST_NODE_OF_13} and ends the process on Node ${node}, so it was not loaded. Run this on Node 24, or pin better-sqlite3 to 12.11.1 in package.json ("overrides"; with pnpm and Yarn "resolutions") and install again; ${LOCKED}`,
    );
  }
}

const LOCKED = "a lockfile or node_modules of another machine keeps the version that was chosen there.";

/** Undefined where a bundler has left no package to look at. */
function installedDriver(): string | undefined {
  try {
    const path = createRequire(import.meta.url).resolve("better-sqlite3/package.json");
    return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  } catch {
    return undefined;
  }
}

function isSince(version: string, [major, minor]: readonly [number, number]): boolean {
  const here = numberAt(version, 0);
  return here > major || (here === major && numberAt(version, 1) >= minor);
}

function numberAt(version: string, place: number): number {
  return Number(version.split(".")[place]);
}
