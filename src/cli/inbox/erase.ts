import { resolve } from "node:path";
import { createMentionsEmail } from "../../base/mentions-email.js";
import { type ErasedCaptures, eraseCaptures } from "../../capture/redact/erase-captures.js";
import type { OperatorErasure } from "../../store/inbox-operator.js";
import { usageError, EXIT } from "../frame/command-error.js";
import { confirm } from "../frame/confirm.js";
import type { RunCommand } from "../frame/context.js";
import { countOf } from "../frame/format.js";
import { hasCaptures } from "../values/capture-store.js";
import { withInbox } from "../values/find-inbox.js";
import { CAPTURE_STORE } from "../values/options.js";
import type { inboxErase } from "./spec.js";

const QUESTION = "Erase all that mentions this address from the database and the captures? It cannot be undone.";

type InboxErasure = OperatorErasure & ErasedCaptures;

const NO_CAPTURES: ErasedCaptures = { captures: 0, filesLeft: [] };

/** Erases what mentions an address. The address itself is never printed. */
export const eraseFromInbox: RunCommand<typeof inboxErase> = async ({ options, context }) => {
  const { email, db, dryRun } = options;
  if (email === undefined) throw usageError("Give the address with --email.");
  // Refused before anything is opened.
  createMentionsEmail(email);
  const folder = resolve(context.cwd, CAPTURE_STORE);
  const hasFolder = hasCaptures(context);
  const erased = await withInbox(db, context, async (inbox) => {
    if (!dryRun && !(await confirm(QUESTION, context))) return undefined;
    return inbox.erase({ email, dryRun });
  });
  if (erased === undefined) return EXIT.failed;
  const counts = { ...erased, ...(hasFolder ? await eraseCaptures({ email, folder, dryRun }) : NO_CAPTURES) };
  const fields = { dryRun, ...counts };
  context.out.result(fields, describeErasure(counts, { dryRun, hasFolder }));
  const isLeft = !dryRun && counts.eventsLeft + counts.contactEventsLeft + counts.jobsLeft > 0;
  return isLeft || counts.filesLeft.length > 0 ? EXIT.failed : EXIT.ok;
};

/** What was erased, and what is left and why. */
export function describeErasure(
  erased: InboxErasure,
  { dryRun, hasFolder }: { dryRun: boolean; hasFolder: boolean },
): string {
  const { events, work, eventsLeft, contactEvents, contactEventsLeft, jobs, jobsLeft } = erased;
  const { captures, filesLeft, walLeft } = erased;
  const be = dryRun ? "would be " : "";
  const lines = [
    `${countOf(events, "event")} ${be}erased`,
    `${countOf(work, "piece")} of work ${be}ended without a run`,
    `${countOf(contactEvents, "contact event")} ${be}erased`,
    ...(jobs === 0 ? [] : [`${countOf(jobs, "text")} by which people chose work for jobs ${be}erased`]),
    hasFolder ? `${countOf(captures, "capture")} ${be}deleted` : `no captures were found in ${CAPTURE_STORE}`,
    ...left(eventsLeft, "event", "being handled. Run the command again when the handlers have ended."),
    ...left(
      contactEventsLeft,
      "contact event",
      "in a call that may be repeated unchanged. Run the command again when it is settled, or discard its other events (outbox list --state dead).",
    ),
    ...left(
      jobsLeft,
      "job",
      "open, and chooses work by a text. Run the command again when it has ended, or cancel it on the dashboard.",
    ),
    ...filesLeft.map(({ file, reason }) => `${file} may mention the address. ${reason} Look into it and delete it.`),
    ...(walLeft === null
      ? []
      : [
          `${walLeft} keeps old versions of what was erased until the receiver is stopped. After a crash, start and stop it.`,
        ]),
  ];
  return lines.join("\n");
}

function left(count: number, what: string, why: string): string[] {
  return count === 0 ? [] : [`${countOf(count, what)} left: ${why}`];
}
