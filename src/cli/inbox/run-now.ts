import type { RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import { countOf } from "../frame/format.js";
import { forEach } from "../values/for-each.js";
import { withInbox } from "../values/find-inbox.js";
import { chooseWork, compareWithCount, piecesOf } from "./choose-work.js";
import type * as specs from "./spec.js";

const NOTHING_WAITS = "No such work waits for its next run.";

/** Runs work now that waits for its next run. */
export const runNow: RunCommand<typeof specs.inboxRun> = ({ args, options, context }) =>
  withInbox(options.db, context, async (inbox) => {
    const { out } = context;
    const { ids } = args;
    const choice = chooseWork(ids, options, { all: options.all });
    const hasReceiver = await inbox.hasReceiver();
    const when = hasReceiver ? "now" : "at the next start of the receiver";
    if (choice !== undefined) {
      const { work: total } = await inbox.countWaiting(choice);
      const ran = await inbox.runWork(choice);
      const text = `${piecesOf(ran.work)} of ${countOf(ran.events, "event")} will run ${when}`;
      const { fields, why } = compareWithCount({ total, done: ran.work });
      const lines = [ran.work === 0 ? undefined : text, why].filter((line) => line !== undefined);
      out.result({ ...ran, ...fields, hasReceiver }, lines.join("\n") || NOTHING_WAITS);
      return EXIT.ok;
    }
    let total = 0;
    const exitCode = await forEach({ names: ids, field: "id", out }, async (id) => {
      const work = await inbox.runEvent(id);
      total += work;
      const text = work === 0 ? "nothing waits for its next run" : `${piecesOf(work)} will run ${when}`;
      return { fields: { work, hasReceiver }, text };
    });
    if (ids.length > 1 && !out.isJson)
      out.result({}, total === 0 ? NOTHING_WAITS : `${piecesOf(total)} will run ${when}`);
    return exitCode;
  });
