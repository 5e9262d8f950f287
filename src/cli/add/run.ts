import { resolve } from "node:path";
import { USUAL_EVENTS } from "../../scaffold/project/event-names.js";
import { type MountPlan, planMount } from "../../scaffold/mount/plan-mount.js";
import { writeMount } from "../../scaffold/mount/write-mount.js";
import { EXIT } from "../frame/command-error.js";
import { confirm } from "../frame/confirm.js";
import type { RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import type { add } from "./spec.js";

/** Adds a receiver to the Express app in a folder: shows the diff, and writes it if confirmed. */
export const run: RunCommand<typeof add> = async ({ args, options, context }) => {
  const { events = USUAL_EVENTS } = options;
  const { out, cwd } = context;
  const path = resolve(cwd, args.dir ?? ".");
  const plan = planMount({ folder: path, events });
  switch (plan.kind) {
    case "present":
      out.result({ ...plan }, `${plan.app} has a receiver already; nothing to do.`);
      return EXIT.ok;
    case "unclear":
      showUnclear(plan, out);
      return EXIT.failed;
    case "ready":
      break;
  }
  const { app, diff, notice } = plan;
  out.result({ kind: "diff", app, diff, notice: notice ?? null }, paintDiff(diff, out));
  if (notice !== undefined) out.note(`${out.paint.yellow("!")} ${notice}.`);
  if (!(await confirm("Write these changes?", context))) {
    out.note("Nothing was written.");
    return EXIT.ok;
  }
  await writeMount(path, plan.changes);
  const files = plan.changes.map((change) => change.path);
  const steps = plan.next.map((step, index) => `  ${index + 1}. ${step}`);
  out.result(
    { kind: "written", files, next: plan.next },
    [`${out.paint.green("✓")} ${files.join(", ")}`, "", ...steps, ""].join("\n"),
  );
  return EXIT.ok;
};

function showUnclear(plan: Extract<MountPlan, { kind: "unclear" }>, out: Output): void {
  const { app, reason, paste } = plan;
  const what = app === undefined ? `Not changed: ${reason}.` : `${app} was not changed: ${reason}.`;
  out.result({ ...plan, app: app ?? null }, `${out.paint.yellow("!")} ${what} Paste this instead:\n\n${paste}`);
}

function paintDiff(diff: string, { paint }: Output): string {
  const lines = diff.trimEnd().split("\n");
  return lines
    .map((line) => {
      if (/^(?:\+\+\+|---|@@|===)/.test(line)) return paint.dim(line);
      if (line.startsWith("+")) return paint.green(line);
      return line.startsWith("-") ? paint.red(line) : line;
    })
    .join("\n");
}
