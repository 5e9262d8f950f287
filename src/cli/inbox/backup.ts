import { resolve } from "node:path";
import type { RunCommand } from "../frame/context.js";
import type { inboxBackup } from "./spec.js";
import { withInbox } from "../values/find-inbox.js";

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
