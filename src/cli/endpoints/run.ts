import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { escapeControls } from "../../base/text.js";
import { writePrivateFile } from "../../capture/folder/write-private-file.js";
import { NotHandedOverError, rotateSecret } from "../../receiver/rotate.js";
import { CommandError, usageError, EXIT } from "../frame/command-error.js";
import { confirm } from "../frame/confirm.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { openClient } from "../values/api-client.js";
import type * as specs from "./spec.js";

export const rotate: RunCommand<typeof specs.endpointsRotateSecret> = async ({ args, options, context }) => {
  const { out, cwd } = context;
  const { id: endpointId } = args;
  const { writeSecret: file } = options;
  const client = openClient(context);
  // Checked first: a secret that cannot be written would be lost.
  if (file !== undefined) await checkWritable(file, context);
  const question = `Rotate the secret of ${endpointId}? The old one stops at once.`;
  if (!(await confirm(question, context))) return EXIT.failed;
  const show = (secret: string): void => out.result({ id: endpointId, secret }, escapeControls(secret));
  const handOver = (secret: string): Promise<void> | void =>
    file === undefined ? show(secret) : writePrivateFile(resolve(cwd, file), `${secret}\n`);
  try {
    await rotateSecret({ client, endpointId, handOver });
  } catch (error) {
    if (!(error instanceof NotHandedOverError)) throw error;
    // It exists nowhere else.
    show(error.secret());
    const text = `The secret was rotated, and ${file} could not be written. It is shown above; store it now.`;
    throw new CommandError(EXIT.failed, "not_written", text);
  }
  if (file === undefined) out.note("Store the secret now; it is not shown again.");
  else out.result({ id: endpointId, secretFile: file }, `The new secret of ${endpointId} is in ${file}.`);
  return EXIT.ok;
};

async function checkWritable(file: string, { cwd }: CommandContext): Promise<void> {
  const path = resolve(cwd, file);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw usageError(`--write-secret: ${file} is a folder; name a file in it. Nothing was changed at the service.`);
  }
  const probe = `${path}.probe`;
  try {
    await writePrivateFile(probe, "");
  } catch {
    throw usageError(`--write-secret: ${file} cannot be written. Nothing was changed at the service.`);
  }
  await rm(probe, { force: true });
}
