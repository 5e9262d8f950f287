import { isConnectionString } from "../../store/connection-string.js";
import { copyInbox } from "../../store/copy-inbox.js";
import { usageError } from "../frame/command-error.js";
import type { RunCommand } from "../frame/context.js";
import { countOf } from "../frame/format.js";
import { readPlace } from "../values/inbox-place.js";
import type { inboxCopy, inboxBackup } from "./spec.js";
import { resolve } from "node:path";
import { withInbox } from "../values/find-inbox.js";

/** Copies a file's inbox and outbox into a PostgreSQL. */
export const copyInboxTo: RunCommand<typeof inboxCopy> = async ({ args, context }) => {
  const { out, signal } = context;
  const from = readPlace("from", args.from, context).at;
  const to = readPlace("to", args.to, context).at;
  if (isConnectionString(from) || !isConnectionString(to)) {
    throw usageError(
      "Give the SQLite file first and then the postgres:// URL: it is copied from a file to PostgreSQL.",
    );
  }
  const report = await copyInbox({ from, to, signal });
  const { database, events, eventsThere, contactEvents, contactEventsThere } = report;
  out.result(
    { ...report },
    [
      `${database} has all of ${from}.`,
      `${countOf(events, "event")} copied${there(eventsThere)}`,
      `${countOf(contactEvents, "contact event")} copied${there(contactEventsThere)}`,
      "Start the receiver with the store on PostgreSQL, and keep the file out of its reach.",
    ].join("\n"),
  );
};

const there = (rows: number): string => (rows === 0 ? "" : `, ${rows} were there already`);

/** Copies the database while its receiver may be running. */
export const backupInbox: RunCommand<typeof inboxBackup> = async ({ args, options, context }) => {
  const { out, cwd, signal } = context;
  const copy = resolve(cwd, args.file);
  await withInbox(options.db, context, async (inbox) => {
    const { database: file } = inbox;
    const { bytes } = await inbox.backUp({ copy, replace: options.force, signal });
    out.result({ file, copy, bytes }, `${args.file} holds all of ${file}: ${bytes} bytes.`);
  });
};
