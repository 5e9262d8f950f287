import { accessSync, constants } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { errorMessage } from "../../base/error-text.js";
import { isPigeonholeError } from "../../base/error.js";
import { silentLogger } from "../../base/logger.js";
import { TUNNEL_NAMES } from "../../dev/tunnel/tunnel-programs.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { makeSecret } from "../../protocol/secret.js";
import { signHere } from "../../protocol/sign-here.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";
import { describeOldNode } from "../old-node.js";
import { type CheckResult, fail, pass, skip, warn } from "../frame/check-result.js";

export function checkNode(version = process.versions.node): CheckResult {
  const old = describeOldNode(version);
  return old === undefined ? pass("node", `Node ${version}.`) : fail("node", old.message, old.fix);
}

/**
 * Processes a delivery from end to end in memory: the native module, SQLite's version, signing, storing, a handler's
 * commit.
 */
export async function checkReceiver(): Promise<CheckResult> {
  try {
    const outcome = await receiveInMemory();
    if (outcome === "accepted")
      return pass("sqlite", "SQLite loads, and a receiver in memory accepted a signed delivery.");
    return fail("sqlite", `A receiver in memory answered its delivery with ${outcome}.`, "Install the package again.");
  } catch (error) {
    const message = errorMessage(error).split("\n")[0] ?? "";
    // The refusal says itself what to install.
    if (isPigeonholeError(error, "driver_unusable")) {
      return fail("sqlite", "A receiver does not start here: better-sqlite3 cannot be used.", message);
    }
    return fail(
      "sqlite",
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
  if (await isFree(port)) return pass("port", `Port ${port} is free for pigeonhole dev.`);
  return warn(
    "port",
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
  if (installed.length > 0) return pass("tunnel", `Installed: ${installed.join(", ")}.`);
  return skip("tunnel", `None of ${TUNNEL_NAMES.join(", ")} is installed; only pigeonhole dev --tunnel needs one.`);
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
