import { type Dirent, existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CheckResult, pass, skip, warn } from "../frame/check-result.js";

const NAME = "better-sqlite3";

/** None of them is found here: an app may have them for other databases. */
const OTHERS =
  "node:sqlite, libsql and Prisma have an SQLite of their own as well: never open the inbox file with them.";

/** Depth of nested node_modules folders. A deeper tree has cycles. */
const MAX_DEPTH = 12;

/**
 * Finds several copies of better-sqlite3 in the app's packages. Each has its own SQLite, which does not know the
 * other's open files.
 */
export function checkSqliteCopies(cwd: string): CheckResult {
  const root = findInstalled(cwd);
  if (root === undefined) return skip("copies", `No node_modules is in ${cwd} or above it.`);
  const copies = new Set<string>();
  collectCopies(root, copies, MAX_DEPTH);
  if (copies.size < 2) return pass("copies", `At most one copy of ${NAME} is installed. ${OTHERS}`);
  const list = [...copies].map((path) => `${versionOf(path)} in ${path}`).toSorted();
  return warn(
    "copies",
    `${copies.size} copies of ${NAME} are installed: ${list.join(", ")}. If one process opens the inbox file with two of them, neither sees the other's locks: events are refused, may be lost, and the file may be damaged. ${OTHERS}`,
    `Run npm dedupe, or ask for one version of ${NAME} with "overrides" in package.json. Use the file through ctx.commit, and copy it with receiver.inbox.backup().`,
  );
}

/** The outermost node_modules from here upwards. With workspaces, that of the whole repository. */
function findInstalled(cwd: string): string | undefined {
  let found: string | undefined;
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "node_modules"))) found = join(folder, "node_modules");
    if (dirname(folder) === folder) return found;
  }
}

function collectCopies(modules: string, copies: Set<string>, depth: number): void {
  if (depth === 0) return;
  const real = realPathOf(join(modules, NAME));
  if (real !== undefined && existsSync(join(real, "package.json"))) copies.add(real);
  for (const { name } of entriesOf(modules)) {
    const path = join(modules, name);
    // A link leads to a workspace's own folder or into pnpm's, which is a folder of this one.
    const isGroup = name === ".pnpm" || name.startsWith("@");
    if (isGroup) for (const each of entriesOf(path)) collectNested(join(path, each.name), copies, depth);
    else if (!name.startsWith(".")) collectNested(path, copies, depth);
  }
}

function collectNested(folder: string, copies: Set<string>, depth: number): void {
  const nested = join(folder, "node_modules");
  if (existsSync(nested)) collectCopies(nested, copies, depth - 1);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function versionOf(folder: string): string {
  try {
    return String((JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown }).version);
  } catch {
    return "an unknown version";
  }
}
