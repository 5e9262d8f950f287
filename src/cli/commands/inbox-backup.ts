import { resolve } from "node:path";
import { backUpInboxFile } from "../../store/back-up-inbox-file.js";
import type { RunCommand } from "../frame/context.js";
import type { inboxBackup } from "../specs/inbox.js";
import { findInboxFile } from "../values/inbox-file.js";

/** Copies the database while its receiver may be running. */
export const run: RunCommand<typeof inboxBackup> = async ({ args, options, context }) => {
  const { out, cwd, signal } = context;
  const file = findInboxFile(options.db, context);
  const copy = resolve(cwd, args.file);
  const { bytes } = await backUpInboxFile({ file, copy, replace: options.force, signal });
  out.result({ file, copy, bytes }, `${args.file} holds all of ${file}: ${bytes} bytes.`);
};
