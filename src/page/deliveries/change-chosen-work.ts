import { changeInboxEvents } from "../api/calls.js";
import type { InboxEvent } from "../../operator/inbox-rows.js";
import type { JobAction } from "../../web/api/jobs.js";
import { loadCaptures } from "../state/captures.js";
import { runAction, showNotice } from "../state/notice.js";
import { followChange, readWaiting } from "../state/run-again.js";
import { clearChosen } from "../state/selection.js";
import { mayDiscard } from "../state/work.js";
import { plural } from "../ui/format.js";

/** Retries, runs now or, after a question, discards the work on the events, and says what was done. */
export function changeChosenWork(events: readonly InboxEvent[], change: JobAction): Promise<boolean> {
  return runAction(async () => {
    const ids = events.map(({ id }) => id);
    const what = ids.length === 1 ? "event" : `unfinished work of ${ids.length} events`;
    if (change === "discard" && !(await mayDiscard(what))) return;
    const waiting = await readWaiting(ids, change);
    const { changed, failed } = await changeInboxEvents(ids, change);
    const pieces = plural(changed, "piece of work", "pieces of work");
    if (changed === 0) showNotice({ tone: "plain", text: "Nothing to change here" });
    else if (change === "discard") showNotice({ tone: "good", text: `${pieces} discarded` });
    else await followChange(ids, change, waiting);
    if (failed > 0) {
      const text = `${plural(failed, "event")} could not be changed: gone, or without a body`;
      showNotice({ tone: "warn", text });
    }
    clearChosen();
    await loadCaptures();
  });
}
