import { describeRest } from "../../capture/model/describe-rest.js";
import { changedBeforeOf } from "../../store/bulk-jobs.js";
import type { WorkChoice } from "../../store/inbox-view.js";
import { usageError } from "../frame/command-error.js";
import { countOf } from "../frame/format.js";

export const piecesOf = (work: number): string => `${countOf(work, "piece")} of work`;

/**
 * Pieces that were counted before a change, and those that others had changed before it came to them, for `--json`;
 * `why` says why fewer were changed, undefined when all were.
 */
export function compareWithCount({ total, done, skipped = 0 }: { total: number; done: number; skipped?: number }) {
  const rest = { skipped, changedBefore: changedBeforeOf({ total, done, skipped }) };
  const why = describeRest(rest, { by: "command", format: String });
  return {
    fields: { chosen: total, changedBefore: rest.changedBefore },
    why: why.length === 0 ? undefined : `${done} of ${piecesOf(total)}: ${why.join(", ")}`,
  };
}

/**
 * The fields by which the options choose work; undefined where events are named. `switches` say whether a switch of the
 * command chooses too.
 */
export function chooseWork(
  ids: readonly string[],
  options: WorkChoice,
  switches: Readonly<Record<string, boolean>>,
): WorkChoice | undefined {
  const { handler, type, error, errorGroup, since, until } = options;
  const fields = { handler, type, error, errorGroup, since, until };
  const isChosen = [...Object.values(switches), ...Object.values(fields).map((value) => value !== undefined)].some(
    Boolean,
  );
  if (isChosen && ids.length > 0) {
    throw usageError(
      "Ids of events and options that choose work were both given. Leave out the ids, or the options: work of named events is not chosen.",
    );
  }
  if (!isChosen && ids.length === 0) {
    const names = [...Object.keys(switches), "handler", "type", "error", "error-group", "since"].map(
      (name) => `--${name}`,
    );
    throw usageError(`Give ids of events, or choose work with ${names.join(", ")} or --until.`);
  }
  return isChosen ? fields : undefined;
}
