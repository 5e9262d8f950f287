import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { escapeControls } from "../../base/text.js";
import { writePrivateFile } from "../../capture/folder/private-folder.js";
import { NotHandedOverError, rotateSecret } from "../../receiver/rotate.js";
import { systemClock } from "../../base/clock.js";
import { isPigeonholeError } from "../../base/error.js";
import { repairEndpoint } from "../../receiver/repair-endpoint.js";
import type { MissingEvent, MissingReason, RepairReport } from "../../receiver/repair-report.js";
import { CommandError, usageError, EXIT } from "../frame/command-error.js";
import { confirm } from "../frame/confirm.js";
import type { CommandContext, RunCommand } from "../frame/context.js";
import { openClient } from "../values/api-client.js";
import { countOf, formatTable } from "../frame/format.js";
import type { Output } from "../frame/output.js";
import { withInbox } from "../values/find-inbox.js";
import { attemptHint } from "../values/attempt-hint.js";
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

/** Most missing events that are printed; `--json` has all. */
const MAX_SHOWN = 50;

/** What became of an event, for a person. */
const REASONS: Record<MissingReason, string> = {
  not_replayed: "not replayed",
  may_repeat: "may have been handled",
  failed: "the receiver did not take it",
  not_arrived: "delivered, but not to this inbox",
  refused: "the service refused to replay it",
  gone: "no longer in the delivery log",
};

/** Compares an endpoint's delivery log with the inbox, and has the service replay what is missing. */
export const repair: RunCommand<typeof specs.endpointsRepair> = async ({ args, options, context }) => {
  const { out, signal } = context;
  const { since, source, enable, mayRepeat, dryRun, wait: waitMs } = options;
  if (since === undefined) throw usageError("Give the begin of the outage with --since, such as 2d or 2026-01-31.");
  const client = openClient(context);
  const report = await withInbox(options.db, context, async (inbox) => {
    const given = { endpointId: args.id, source, since, enable, mayRepeat, dryRun, waitMs, signal };
    const onReplay = (ids: readonly string[]): void => out.note(`Replaying ${countOf(ids.length, "event")}.`);
    return namingMayRepeat(repairEndpoint({ client, inbox, clock: systemClock, onReplay }, given));
  });
  out.result({ repair: { ...report, stopped: report.stopped ?? null } }, describe(report, out));
  for (const remark of remarksOn(report, dryRun)) out.note(remark);
  return report.stillMissing.length === 0 ? EXIT.ok : EXIT.failed;
};

/** Changes the option in a refusal to its flag. */
async function namingMayRepeat<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (!isPigeonholeError(error, "invalid_argument")) throw error;
    throw usageError(`--since: ${error.message.replace("mayRepeat", "--may-repeat")}`);
  }
}

function describe(report: RepairReport, { paint }: Output): string {
  const { found, missing, replayed, arrived, stillMissing } = report;
  const counts = [
    `found          ${countOf(found, "event")} with failed attempts`,
    `missing        ${missing} of them from the inbox`,
    `replayed       ${replayed}`,
    `arrived        ${arrived}`,
    `still missing  ${stillMissing.length}`,
  ];
  if (stillMissing.length === 0) return counts.join("\n");
  const rows = stillMissing.slice(0, MAX_SHOWN).map(rowOf);
  const table = formatTable(["EVENT", "TYPE", "FIRST FAILED", "ANSWER", "WHY"], rows, paint.dim);
  const left = stillMissing.length - rows.length;
  return [...counts, "", table, ...(left > 0 ? [`and ${left} more; --json has all`] : [])].join("\n");
}

function rowOf({ id, type, firstFailedAt, responseCode, reason }: MissingEvent): string[] {
  return [id, type ?? "", firstFailedAt ?? "", responseCode ?? "none", REASONS[reason]].map((cell) =>
    escapeControls(String(cell)),
  );
}

/** What else a person must know or do. */
function remarksOn(report: RepairReport, dryRun: boolean): string[] {
  const { endpointId, stopped, switchedOn, enabled, offPeriods, unnamedRows, logReachesBack, stillMissing } = report;
  const failed = stillMissing.findLast(({ reason }) => reason === "failed");
  const remarks: string[] = [];
  if (switchedOn) remarks.push(`${endpointId} was off and is on again.`);
  if (stopped === "endpoint_off" || (dryRun && !enabled)) {
    remarks.push(`${endpointId} is off, so nothing can be replayed. --enable switches it on.`);
  }
  if (stopped === "replays_fail") {
    remarks.push(
      failed === undefined
        ? `One more failure in a row would switch ${endpointId} off. An event that is delivered, or switching it off and on, resets the count.`
        : `Ended: several events in a row were not taken. ${hintOn(failed)}`,
    );
  }
  if (stillMissing.some(({ reason }) => reason === "may_repeat")) {
    remarks.push(
      "Events that may be older than the inbox's ids, or were delivered by another attempt, may have been handled; --may-repeat replays them too.",
    );
  }
  if (stillMissing.some(({ reason }) => reason === "not_arrived")) {
    remarks.push(
      "Does the endpoint's URL lead to the receiver whose database --db names, and has its secret a name for --source? A longer --wait may do, too.",
    );
  }
  for (const { from, until } of offPeriods) {
    remarks.push(
      `The endpoint was off from ${from ?? "before --since"} to ${until ?? "now"}. Events that were fired then and are not in the delivery log cannot be repaired.`,
    );
  }
  if (unnamedRows > 0)
    remarks.push(`${countOf(unnamedRows, "row")} of the delivery log named no event, and was left out.`);
  if (!logReachesBack)
    remarks.push("The delivery log has nothing from before --since; it may not reach back that far.");
  return remarks.map(escapeControls);
}

function hintOn({ responseCode }: MissingEvent): string {
  return attemptHint({ responseCode, error: null });
}
