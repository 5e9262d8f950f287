import { relative } from "node:path";
import { PACKAGE_MANAGERS } from "../../scaffold/project/package-manager.js";
import { TEMPLATES } from "../../scaffold/project/templates.js";
import type { Answers } from "./answers.js";

/** The next steps for a new project: commands, each with a short description. */
export function nextSteps(
  answers: Answers,
  place: { folder: string; cwd: string; isInstalled: boolean },
): [command: string, what: string][] {
  const { install, run, args } = PACKAGE_MANAGERS[answers.packageManager];
  const path = relative(place.cwd, place.folder);
  const steps: [string, string][] = [];
  if (path !== "") steps.push([`cd ${/[^\w./-]/.test(path) ? JSON.stringify(path) : path}`, ""]);
  if (!place.isInstalled) steps.push([install, ""]);
  if (TEMPLATES[answers.template].database === "postgres") {
    const own = ["docker compose up --detach --wait database", "the PostgreSQL of DATABASE_URL in .env"] as const;
    steps.push(answers.docker ? [...own] : ["# start the PostgreSQL of DATABASE_URL in .env", ""]);
  }
  steps.push(
    [`${run} dev`, "the app, the dev server with its page, an emulated service"],
    [`${run} trigger${args} ${answers.events[0] ?? "email.received"}`, "in a second terminal: a signed delivery"],
    [`${run} test`, "what it accepts, refuses and runs once"],
  );
  return steps;
}
