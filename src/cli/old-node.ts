/** `engines` of package.json. */
const OLDEST_NODE = "20.20.2";

/** Says that this Node is too old for the package, and what to do; undefined where it is not. Runs on a Node of any age. */
export function describeOldNode(version: string): { message: string; fix: string } | undefined {
  const parts = version.split(".").map(Number);
  const oldest = OLDEST_NODE.split(".").map(Number);
  const different = oldest.findIndex((part, index) => part !== parts[index]);
  if (different === -1 || Number(parts[different]) > Number(oldest[different])) return undefined;
  return { message: `Node ${version} is older than ${OLDEST_NODE}.`, fix: "Install Node 24." };
}
