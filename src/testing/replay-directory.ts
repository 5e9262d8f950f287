import { createServer, type Server } from "node:http";
import { PigeonholeError } from "../base/error.js";
import { type OptionsOf, defineOptions, flag, given } from "../base/options.js";
import { type CaptureTestReport, describeFailures } from "../capture/tests/capture-test-report.js";
import {
  CAPTURE_TEST_RULES,
  type CaptureTestOptions,
  type CaptureTestRules,
  runCaptureTests,
} from "../capture/tests/run-capture-tests.js";
import type { Receiver } from "../receiver/receiver.js";
import { TEST_SECRET } from "./deliver.js";

export type { CaptureTestCase, CaptureTestReport } from "../capture/tests/capture-test-report.js";

/** A receiver in this process, or the URL of an app and its secret. */
export type ReplayDestination = Pick<Receiver, "start" | "middleware" | "inbox"> | { url: string; secret: string };

/** How `replayDirectory` tests captures. */
export interface ReplayDirectoryOptions extends CaptureTestRules {
  /** Secret of a receiver in this process. @default TEST_SECRET */
  secret?: string | undefined;
  /** Returns failures instead of rejecting. @default false */
  returnFailures?: boolean | undefined;
}

export const REPLAY_DIRECTORY_OPTIONS = defineOptions("replayDirectory", {
  ...CAPTURE_TEST_RULES,
  secret: given({ default: TEST_SECRET }),
  returnFailures: flag({ default: false }),
} satisfies OptionsOf<ReplayDirectoryOptions>);

/**
 * Replays every capture of a folder (or one file), signed again and with new event ids, over real HTTP, and checks the
 * answer that each file expects: 2xx, or its `expect`. A receiver is started if needed, and the states of its handlers
 * are checked too. Rejects with `captures_failed` and a message that lists each failure.
 *
 * @example
 * test("captured deliveries are handled", () => replayDirectory("fixtures/webhooks", receiver, { twice: true }));
 */
export async function replayDirectory(
  directory: string,
  destination: ReplayDestination,
  options: ReplayDirectoryOptions = {},
): Promise<CaptureTestReport> {
  const { returnFailures, secret, ...rules } = REPLAY_DIRECTORY_OPTIONS.resolve(options);
  const report =
    "url" in destination
      ? await runCaptureTests({ ...rules, folder: directory, target: destination.url, secret: destination.secret })
      : await replayToReceiver(destination, { ...rules, folder: directory, secret });
  if (report.failed === 0 || returnFailures) return report;
  const text = `${report.failed} of ${report.cases.length} captures were not answered as expected:`;
  throw new PigeonholeError("captures_failed", `${text}\n${describeFailures(report)}`);
}

async function replayToReceiver(
  receiver: Pick<Receiver, "start" | "middleware" | "inbox">,
  options: Omit<CaptureTestOptions, "target">,
): Promise<CaptureTestReport> {
  await receiver.start();
  const server = createServer(receiver.middleware());
  const port = await listen(server);
  try {
    return await runCaptureTests({
      ...options,
      target: `http://127.0.0.1:${port}/`,
      inspect: async (eventId) => (await receiver.inbox.get(eventId))?.handlers,
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}
