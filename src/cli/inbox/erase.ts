import { type MentionsEmail, createMentionsEmail } from "../../base/mentions-email.js";
import { isMentionedIn } from "../../capture/query/is-mentioned.js";
import type { EraseCounts } from "../../store/erase.js";
import { usageError } from "../frame/command-error.js";
import { confirm } from "../frame/confirm.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { EXIT } from "../frame/exit-code.js";
import { openCapturesIfThere, readCaptures } from "../values/capture-store.js";
import { withInbox } from "../values/inbox-file.js";
import { countOf } from "../frame/format.js";
import type { inboxErase } from "./spec.js";

const QUESTION = "Erase all that mentions this address from the database and the captures? It cannot be undone.";

/** Erases what mentions an address. The address itself is never printed. */
export const run: RunCommand<typeof inboxErase> = ({ options, context }) => {
  const { email, db, store, dryRun } = options;
  if (email === undefined) throw usageError("Give the address with --email.");
  // Refused before anything is opened.
  const mentions = createMentionsEmail(email);
  return withInbox(db, context, async (inbox) => {
    if (!dryRun && !(await confirm(QUESTION, context))) return EXIT.failed;
    const erased = await inbox.erase({ email, dryRun });
    const captures = await eraseCaptures({ mentions, store, dryRun }, context);
    context.out.result({ dryRun, ...erased, captures }, describe({ ...erased, captures }, dryRun));
    const isLeft = erased.eventsLeft + erased.contactEventsLeft > 0;
    return isLeft && !dryRun ? EXIT.failed : EXIT.ok;
  });
};

interface CaptureOptions {
  mentions: MentionsEmail;
  store: string;
  dryRun: boolean;
}

/** Deletes the captures, pinned ones too; returns how many. */
async function eraseCaptures({ mentions, store, dryRun }: CaptureOptions, context: CommandContext): Promise<number> {
  const folder = dryRun ? undefined : openCapturesIfThere(store, context);
  const reader = folder ?? readCaptures(store, context);
  const ids = reader.list().flatMap((capture) => (isMentionedIn(capture, mentions) ? [capture.id] : []));
  if (folder === undefined) return ids.length;
  const removed = await folder.remove(ids);
  await folder.flush();
  return removed;
}

function describe(counts: EraseCounts & { captures: number }, dryRun: boolean): string {
  const { events, work, eventsLeft, contactEvents, contactEventsLeft, captures } = counts;
  const be = dryRun ? "would be " : "";
  const lines = [
    `${countOf(events, "event")} ${be}erased`,
    `${countOf(work, "piece")} of work ${be}ended without a run`,
    `${countOf(contactEvents, "contact event")} ${be}erased`,
    `${countOf(captures, "capture")} ${be}deleted`,
    ...(eventsLeft === 0
      ? []
      : [`${countOf(eventsLeft, "event")} left: being handled. Run the command again when the handlers have ended.`]),
    ...(contactEventsLeft === 0
      ? []
      : [
          `${countOf(contactEventsLeft, "contact event")} left: in a call that may be repeated unchanged. Run the command again when it is settled, or discard its other events (outbox list --state dead).`,
        ]),
  ];
  return lines.join("\n");
}
