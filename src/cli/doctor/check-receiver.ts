import { errorMessage } from "../../base/error-text.js";
import { isPigeonholeError } from "../../base/error.js";
import { silentLogger } from "../../base/logger.js";
import { OUTCOME_HEADER } from "../../protocol/outcome.js";
import { makeSecret } from "../../protocol/secret.js";
import { signHere } from "../../protocol/sign-here.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";
import { type CheckResult, checksNamed } from "../frame/check-result.js";

/**
 * Processes a delivery from end to end in memory: the native module, SQLite's version, signing, storing, a handler's
 * commit.
 */
export async function checkReceiver(): Promise<CheckResult> {
  const { fail, pass } = checksNamed("sqlite");
  try {
    const outcome = await receiveInMemory();
    if (outcome === "accepted")
      return pass(`Node ${process.versions.node}: a receiver in memory accepted a signed delivery.`);
    return fail(`A receiver in memory answered its delivery with ${outcome}.`, "Install the package again.");
  } catch (error) {
    const message = errorMessage(error).split("\n")[0] ?? "";
    // The refusal says itself what to install.
    if (isPigeonholeError(error, "driver_unusable")) {
      return fail("A receiver does not start here: better-sqlite3 cannot be used.", message);
    }
    const fix = "Install the packages again, with the Node that the app runs on.";
    return fail(`A receiver does not start here: ${message}`, fix);
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
