import { escapeControls } from "../../base/text.js";
import type { SendingLane } from "../../contract/sending.js";
import { type CheckResult, pass, skip, warn } from "../frame/check-result.js";
import type { WorkspaceLook } from "./workspace-look.js";

const NAME = "lane";

/** Finds a broadcast lane that has paused itself, so that broadcasts wait. */
export const checkLane: WorkspaceLook = {
  name: NAME,
  scope: "emails:read",
  async look({ sending }, signal) {
    const lane = (await sending.streams({ signal })).find(({ stream }) => stream === "broadcast");
    return [lane === undefined ? skip(NAME, "The service named no broadcast lane.") : judge(lane)];
  },
};

function judge({ status, pausedAt, pausedReason, window }: SendingLane): CheckResult {
  if (status !== "paused") return pass(NAME, `The broadcast lane is active${figuresOf(window)}.`);
  const since = pausedAt === null ? "" : ` since ${escapeControls(pausedAt)}`;
  const reason = pausedReason === null ? "" : ` (${escapeControls(pausedReason)})`;
  return warn(
    NAME,
    `The broadcast lane is paused${since}${reason}${figuresOf(window)}; broadcasts wait.`,
    "Remove the addresses that bounced or complained, and then resume it: npx pigeonhole api sending.resume broadcast",
  );
}

function figuresOf(window: SendingLane["window"]): string {
  if (window === null) return "";
  const { recipients, bounced, complained } = window;
  return `: of ${recipients} recipients of 7 days, ${bounced} bounced and ${complained} complained`;
}
