import { accessSync, constants, existsSync, readFileSync, readdirSync, realpathSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join, dirname } from "node:path";
import { errorMessage } from "../../base/error-text.js";
import { isPigeonholeError } from "../../base/error.js";
import { silentLogger } from "../../base/logger.js";
import { TUNNEL_NAMES } from "../../dev/tunnel/tunnel-programs.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { makeSecret } from "../../protocol/secret.js";
import { signHere } from "../../protocol/sign-here.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";
import { describeOldNode } from "../old-node.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";

export function checkNode(version = process.versions.node): CheckResult {
  const old = describeOldNode(version);
  return old === undefined
    ? checksNamed("node").pass(`Node ${version}.`)
    : checksNamed("node").fail(old.message, old.fix);
}

/**
 * Processes a delivery from end to end in memory: the native module, SQLite's version, signing, storing, a handler's
 * commit.
 */
export async function checkReceiver(): Promise<CheckResult> {
  try {
    const outcome = await receiveInMemory();
    if (outcome === "accepted")
      return checksNamed("sqlite").pass("SQLite loads, and a receiver in memory accepted a signed delivery.");
    return checksNamed("sqlite").fail(
      `A receiver in memory answered its delivery with ${outcome}.`,
      "Install the package again.",
    );
  } catch (error) {
    const message = errorMessage(error).split("\n")[0] ?? "";
    // The refusal says itself what to install.
    if (isPigeonholeError(error, "driver_unusable")) {
      return checksNamed("sqlite").fail("A receiver does not start here: better-sqlite3 cannot be used.", message);
    }
    return checksNamed("sqlite").fail(
      `A receiver does not start here: ${message}`,
      "Install the packages again, with the Node that the app runs on.",
    );
  }
}

async function receiveInMemory(): Promise<string> {
  // Loads the native module, so that its failure is a failure of this check.
  const { createReceiver } = await import("../../receiver/create-receiver.js");
  const secret = makeSecret();
  const receiver = createReceiver({ secrets: secret, store: ":memory:", logger: silentLogger, telemetry: false });
  const handled = new Promise<void>((resolve) => {
    receiver.on("email.received", (_, ctx) => ctx.commit(() => resolve()));
  });
  await receiver.start();
  try {
    const body = JSON.stringify(sampleEvent("email.received"));
    const headers = signHere({ body, secret });
    const answer = await receiver.fetch(new Request("http://doctor.test/", { method: "POST", body, headers }));
    if (answer.ok) await handled;
    return answer.headers.get(OUTCOME_HEADER) ?? `HTTP ${answer.status}`;
  } finally {
    await receiver.stop();
  }
}

export async function checkPort(port: number): Promise<CheckResult> {
  if (await isFree(port)) return checksNamed("port").pass(`Port ${port} is free for pigeonhole dev.`);
  return checksNamed("port").warn(
    `Port ${port} is in use; perhaps pigeonhole dev is running already.`,
    "Give pigeonhole dev another one with --port.",
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

export function checkTunnelPrograms(env: NodeJS.ProcessEnv): CheckResult {
  const installed = TUNNEL_NAMES.filter((name) => isInstalled(name, env));
  if (installed.length > 0) return checksNamed("tunnel").pass(`Installed: ${installed.join(", ")}.`);
  return checksNamed("tunnel").skip(
    `None of ${TUNNEL_NAMES.join(", ")} is installed; only pigeonhole dev --tunnel needs one.`,
  );
}

function isInstalled(program: string, env: NodeJS.ProcessEnv): boolean {
  return (env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const NAME = "better-sqlite3";

/** None of them is found here: an app may have them for other databases. */
const OTHERS =
  "node:sqlite, libsql and Prisma have an SQLite of their own as well: never open the inbox file with them.";

/**
 * Finds several copies of better-sqlite3 in the app's packages. Each has its own SQLite, which does not know the
 * other's open files.
 */
export function checkSqliteCopies(cwd: string): CheckResult {
  const root = findInstalled(cwd);
  if (root === undefined) return checksNamed("copies").skip(`No node_modules is in ${cwd} or above it.`);
  const copies = new Set(copiesIn(root));
  if (copies.size < 2) return checksNamed("copies").pass(`At most one copy of ${NAME} is installed. ${OTHERS}`);
  const list = [...copies].map((path) => `${versionOf(path)} in ${path}`).toSorted();
  return checksNamed("copies").warn(
    `${copies.size} copies of ${NAME} are installed: ${list.join(", ")}. If one process opens the inbox file with two of them, neither sees the other's locks: events are refused, may be lost, and the file may be damaged. ${OTHERS}`,
    `Run npm dedupe, or ask for one version of ${NAME} with "overrides" in package.json. Use the file through ctx.commit, and copy it with receiver.inbox.backup().`,
  );
}

/** The outermost node_modules from here upwards. With workspaces, that of the whole repository. */
function findInstalled(cwd: string): string | undefined {
  const above = dirname(cwd) === cwd ? undefined : findInstalled(dirname(cwd));
  const own = join(cwd, "node_modules");
  return above ?? (existsSync(own) ? own : undefined);
}

/** Links count as what they lead to. A deeper tree than so has cycles. */
function* copiesIn(modules: string, depth = 12): Generator<string> {
  const own = join(modules, NAME);
  if (existsSync(join(own, "package.json"))) yield realpathSync(own);
  if (depth === 0) return;
  for (const name of namesIn(modules)) {
    const path = join(modules, name);
    const isGroup = name === ".pnpm" || name.startsWith("@");
    const packages = isGroup ? namesIn(path).map((each) => join(path, each)) : name.startsWith(".") ? [] : [path];
    for (const each of packages) yield* copiesIn(join(each, "node_modules"), depth - 1);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function versionOf(folder: string): string {
  try {
    return String((JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown }).version);
  } catch {
    return "an unknown version";
  }
}
