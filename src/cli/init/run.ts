import { existsSync } from "node:fs";
import { dirname, resolve, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isPigeonholeError } from "../../base/error.js";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";
import { captureRequest } from "../../capture/model/capture-request.js";
import type { EventType } from "../../protocol/event-types.js";
import { sampleEvent } from "../../sandbox/samples/sample-event.js";
import { needsNodePackage, PROJECT_NODE } from "../../scaffold/project/manager-settings.js";
import {
  detectPackageManager,
  PACKAGE_MANAGERS,
  type PackageManagerName,
} from "../../scaffold/project/package-manager.js";
import { type PlannedFile, planScaffold } from "../../scaffold/project/plan-scaffold.js";
import { projectName } from "../../scaffold/project/scaffold-options.js";
import { runProgram } from "../../scaffold/project/run-program.js";
import { checkFolder, writeScaffold } from "../../scaffold/project/write-scaffold.js";
import { usageError, EXIT, type ExitCode } from "../frame/command-error.js";
import type { CommandContext, CommandInput, RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import { type Answers, type GivenAnswers, takeAnswers } from "./answers.js";
import type { init } from "./spec.js";
import { copyTarball, findTarball, type Tarball } from "./tarball.js";
import { TEMPLATES } from "../../scaffold/project/templates.js";

type Input = CommandInput<typeof init>;

/** Folder of the installed package. */
const THIS_PACKAGE = fileURLToPath(PACKAGE_FOLDER).replace(/[/\\]$/, "");

export const run: RunCommand<typeof init> = async (input) => {
  const { options, context } = input;
  const { overwrite, minimal } = options;
  const answers = await findAnswers(input);
  if (answers === "left") return EXIT.interrupted;
  const folder = resolve(context.cwd, answers.folder);
  checkFolder(folder, overwrite);
  const { template, events } = answers;
  const packageManager = options.pm ?? detectPackageManager(context.env["npm_config_user_agent"]);
  const nodePackage = options.nodePackage && needsNodePackage(packageManager, process.versions.node);
  const docker = options.docker && !minimal;
  const content = { template, events, packageManager, docker, nodePackage };
  const tarball = findTarball(options.pigeonholeVersion, { folder, installed: THIS_PACKAGE });
  const plan = planScaffold({
    ...content,
    minimal,
    name: projectName(folder),
    pigeonhole: tarball === undefined ? (options.pigeonholeVersion ?? `^${context.version}`) : `file:${tarball.to}`,
    nodeVersion: process.versions.node,
    makeFixture,
  });
  const choices = { ...content, git: options.git };
  return create(choices, { folder, plan, tarball, overwrite, install: options.install, context });
};

/** The given answers; the others are asked in a terminal or taken from the defaults. */
async function findAnswers({ args, options, context }: Input): Promise<Answers | "left"> {
  const { minimal, template, events, overwrite } = options;
  if (minimal && template !== undefined) {
    throw usageError("--minimal is on Express and SQLite, without a container: leave out --template.");
  }
  const given: GivenAnswers = { folder: args.dir, template: minimal ? "express" : template, events };
  const { yes, stdin, out, cwd, signal } = context;
  if (yes || !stdin.isTTY || !out.isTerminal) return takeAnswers(given, yes);
  const { ask, QuestionLeftError } = await import("./ask.js");
  try {
    return await ask({ given, cwd, overwrite, signal });
  } catch (error) {
    if (!(error instanceof QuestionLeftError)) throw error;
    out.note("Nothing was written.");
    return "left";
  }
}

/** What the project is made of, as `--json` says it. */
interface Choices extends Omit<Answers, "folder"> {
  packageManager: PackageManagerName;
  git: boolean;
  docker: boolean;
  nodePackage: boolean;
}

interface PlannedProject {
  folder: string;
  plan: readonly PlannedFile[];
  tarball: Tarball | undefined;
  context: CommandContext;
}

async function create(
  choices: Choices,
  place: PlannedProject & { overwrite: boolean; install: boolean },
): Promise<ExitCode> {
  const { folder, plan, tarball, overwrite, context } = place;
  const { out, signal, cwd } = context;
  const git = choices.git && !(await isInRepository(nearestFolder(folder)));
  let isInstalled = false;
  const failures: string[] = [];
  const prepare = async (draft: string): Promise<void> => {
    if (tarball !== undefined) await copyTarball(tarball, draft);
    if (git) await tolerate(failures, () => runProgram({ command: MAKE_REPOSITORY, folder: draft, signal }));
    if (place.install) isInstalled = await tolerate(failures, () => install(choices, draft, context));
  };
  try {
    await writeScaffold(plan, { folder, overwrite, signal, prepare });
  } catch (error) {
    if (!signal.aborted) throw error;
    out.note("Interrupted; nothing was written.");
    return EXIT.interrupted;
  }
  const files = [...plan.map(({ path }) => path), ...(tarball === undefined ? [] : [tarball.to])];
  const next = nextSteps(choices, { folder, cwd, isInstalled });
  const steps = next.map(([line, what], index) => {
    return `  ${index + 1}. ${out.paint.bold(line)}${what === "" ? "" : `  ${out.paint.dim(what)}`}`;
  });
  out.result(
    {
      kind: "created",
      folder,
      ...choices,
      git,
      installed: isInstalled,
      failures,
      files,
      next: next.map(([line]) => line),
    },
    [`${out.paint.green("✓")} ${folder}: ${files.length} files, ${choices.template}.`, "", ...steps, ""].join("\n"),
  );
  noteNode(choices, out);
  for (const failure of failures) out.note(`${out.paint.yellow("!")} ${failure}\n`);
  return failures.length === 0 ? EXIT.ok : EXIT.failed;
}

/** A note for a machine whose Node is older than the project's. */
function noteNode({ nodePackage, packageManager }: Choices, out: Output): void {
  const { node } = process.versions;
  if (Number.parseInt(node) >= PROJECT_NODE) return;
  const how = nodePackage
    ? "the npm package node brings it, and the project's scripts run on it."
    : PACKAGE_MANAGERS[packageManager].runsNodePackage
      ? "install it, or leave out --no-node-package."
      : `install it, as ${packageManager} runs scripts on the Node that runs it, or make the project with --pm npm.`;
  out.note(`This machine has Node ${node}, and the project is for Node ${PROJECT_NODE}: ${how}\n`);
}

const MAKE_REPOSITORY = "git init --quiet --initial-branch=main";

/** True inside a repository, where a nested one would be unwanted. */
async function isInRepository(folder: string): Promise<boolean> {
  try {
    await runProgram({ command: "git rev-parse --is-inside-work-tree", folder });
    return true;
  } catch {
    return false;
  }
}

async function install({ packageManager }: Choices, folder: string, { signal, out }: CommandContext): Promise<void> {
  const command = PACKAGE_MANAGERS[packageManager].install;
  out.note(`Installing with ${packageManager} …`);
  await runProgram({ command, folder, signal });
}

/**
 * If a program fails, the project is kept without packages or repository, which is better than none. Any other error
 * ends the command.
 */
async function tolerate(failures: string[], work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!isPigeonholeError(error, "program_failed")) throw error;
    failures.push(error.message);
    return false;
  }
}

function nearestFolder(folder: string): string {
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

/** The next steps for a new project: commands, each with a short description. */
function nextSteps(
  { template, events, packageManager, docker }: Choices,
  place: { folder: string; cwd: string; isInstalled: boolean },
): [command: string, what: string][] {
  const { install, run, args } = PACKAGE_MANAGERS[packageManager];
  const path = relative(place.cwd, place.folder);
  const steps: [string, string][] = [];
  if (path !== "") steps.push([`cd ${/[^\w./-]/.test(path) ? JSON.stringify(path) : path}`, ""]);
  if (!place.isInstalled) steps.push([install, ""]);
  if (TEMPLATES[template].database === "postgres") {
    const own = ["docker compose up --detach --wait database", "the PostgreSQL of DATABASE_URL in .env"] as const;
    steps.push(docker ? [...own] : ["# start the PostgreSQL of DATABASE_URL in .env", ""]);
  }
  steps.push(
    [`${run} dev`, "the app, the dev server with its page, an emulated service"],
    [`${run} trigger${args} ${events[0] ?? "email.received"}`, "in a second terminal: a signed delivery"],
    [`${run} test`, "what it accepts, refuses and runs once"],
  );
  return steps;
}

/** A capture of a sample event as a file: the same in every run, and not signed, since each use signs it. */
export function makeFixture(type: EventType): string {
  const event = sampleEvent(type, {}, { seed: "fixture" });
  const capture = captureRequest({
    id: `sample_${type.replaceAll(".", "_")}`,
    source: "trigger",
    receivedAt: Date.parse(event.createdAt),
    secrets: [],
    request: {
      method: "POST",
      path: "/webhooks/mail",
      headers: [["content-type", "application/json"]],
      body: Buffer.from(JSON.stringify(event)),
    },
  });
  const note = "A sample with assumed data. Replace it by a real capture.";
  return `${JSON.stringify({ ...capture, note }, undefined, 2)}\n`;
}
