import { join } from "node:path";
import { errorMessage } from "../../base/error-text.js";
import type { Capture } from "../../capture/model/capture.js";
import { tryFileLock } from "../../capture/folder/file-lock.js";
import { summarizeCapture } from "../../capture/model/summarize-capture.js";
import { targetUrl } from "../../capture/send/target.js";
import type { Report } from "../lines/dev-event.js";
import type { CaptureLog } from "./capture-log.js";
import type { AppSender } from "./app-sender.js";
import { userTags } from "./held-tag.js";

export interface HeldDeliveryDeps {
  log: CaptureLog;
  appSender: AppSender;
  report: Report;
}

/**
 * Makes the function that sends a held delivery to its app. It resolves with true when the app has answered with any
 * status: the sender already got 202, and the terminal shows the status. If several dev servers in one folder hold it
 * for the same app, one sends it while the others find it busy or done.
 */
export function createHeldDelivery(deps: HeldDeliveryDeps): (held: Capture, target: string) => Promise<boolean> {
  const { log, report } = deps;
  return async (held, target) => {
    try {
      const done = await tryFileLock(join(log.folder.path, `${held.id}.held`), async () => {
        const current = await log.folder.refresh(held.id);
        const isNeeded = current !== undefined && !isDelivered(current, target);
        return isNeeded ? await deliver(deps, current, target) : true;
      });
      return done === true;
    } catch (error) {
      report({ kind: "problem", what: `A held delivery could not be sent: ${errorMessage(error)}`, fix: null });
      return false;
    }
  };
}

/** Whether the app at the target has answered a delivery held for it. */
export function isDelivered({ attempts, request }: Capture, target: string): boolean {
  const url = targetUrl(target, request);
  return attempts.some((attempt) => attempt.kind === "retry" && attempt.target === url && attempt.status !== null);
}

async function deliver({ appSender, log, report }: HeldDeliveryDeps, held: Capture, target: string): Promise<boolean> {
  const { sent, made } = await appSender.send(held, target, { kind: "retry", mode: "resign" });
  if (sent.failure !== null) return false;
  await log.change(held.id, (current) => ({ ...current, tags: userTags(current) }));
  const { capture, attempt } = await log.addAttempt(held, made);
  report({ kind: "delivered", capture: summarizeCapture(capture), attempt });
  return true;
}
