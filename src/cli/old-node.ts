/** `engines` of package.json: what better-sqlite3 12 or 13 runs on. */
export const SUPPORTED_NODE = "^20.20.2 || ^22.14.0 || >=23.6.0";

const NEEDED = "Node 20 from 20.20.2, 22 from 22.14, or 23.6 and later";

/** Reports that this Node is too old for the package, and what to do; undefined if it is not. Runs on every Node. */
export function describeOldNode(version: string): { message: string; fix: string } | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (isSupported(major, minor, patch)) return undefined;
  return { message: `Node ${version} is too old: this needs ${NEEDED}.`, fix: "Install Node 24." };
}

function isSupported(major: number, minor: number, patch: number): boolean {
  if (major === 20) return minor > 20 || (minor === 20 && patch >= 2);
  if (major === 22) return minor >= 14;
  if (major === 23) return minor >= 6;
  return major > 23;
}
