import { existsSync } from "node:fs";
import { dirname, resolve, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isPigeonholeError } from "../../base/error.js";
import { PACKAGE_FOLDER } from "../../base/package-folder.js";
import { checkFolder } from "../../scaffold/project/check-folder.js";
import { initGit, isInRepository } from "../../scaffold/project/init-git.js";
import { PROJECT_NODE } from "../../scaffold/project/manager-settings.js";
import { PACKAGE_MANAGERS } from "../../scaffold/project/package-manager.js";
import { type PlannedFile, planScaffold } from "../../scaffold/project/plan-scaffold.js";
import { projectName } from "../../scaffold/project/project-name.js";
import { runProgram } from "../../scaffold/project/run-program.js";
import { writeScaffold } from "../../scaffold/project/write-scaffold.js";
import { usageError, EXIT, type ExitCode } from "../frame/command-error.js";
import type { CommandContext, CommandInput, RunCommand } from "../frame/context.js";
import type { Output } from "../frame/output.js";
import { type Answers, defaultAnswers, type GivenAnswers, isOlderThanProject, takeDefaults } from "./answers.js";
import { makeFixture } from "./make-fixture.js";
import type { init } from "./spec.js";
import { copyTarball, findTarball, type Tarball } from "./tarball.js";
import { TEMPLATES } from "../../scaffold/project/templates.js";

type Input = CommandInput<typeof init>;

/** Folder of the installed package. */
const THIS_PACKAGE = fileURLToPath(PACKAGE_FOLDER).replace(/[/\\]$/, "");

export const run: RunCommand<typeof init> = async (input) => {
  const { options, context } = input;
  const { overwrite } = options;
  const answers = await findAnswers(input);
  if (answers === "left") return EXIT.interrupted;
  const folder = resolve(context.cwd, answers.folder);
  checkFolder(folder, overwrite);
  const { template, packageManager, docker, nodePackage } = answers;
  const tarball = findTarball(options.pigeonholeVersion, { folder, installed: THIS_PACKAGE });
  const plan = planScaffold({
    template,
    minimal: options.minimal,
    events: answers.events,
    packageManager,
    docker,
    nodePackage,
    name: projectName(folder),
    pigeonhole: tarball === undefined ? (options.pigeonholeVersion ?? `^${context.version}`) : `file:${tarball.to}`,
    nodeVersion: process.versions.node,
    makeFixture,
  });
  if (options.dryRun) {
    showPlan(answers, { folder, plan, tarball, context });
    return EXIT.ok;
  }
  return create(answers, { folder, plan, tarball, overwrite, context });
};

/** The given answers; the others are asked in a terminal or taken from the defaults. */
async function findAnswers({ args, options, context }: Input): Promise<Answers | "left"> {
  const { minimal, events, pm: packageManager, install, git, nodePackage, overwrite } = options;
  if (minimal && (options.template !== undefined || options.docker === true)) {
    throw usageError("--minimal is on Express and SQLite, without a container: leave out --template and --docker.");
  }
  const [template, docker] = minimal ? (["express", false] as const) : [options.template, options.docker];
  const given: GivenAnswers = { folder: args.dir, template, events, packageManager, install, git, docker, nodePackage };
  const { yes, stdin, out, env, cwd, signal } = context;
  const defaults = defaultAnswers(env["npm_config_user_agent"], process.versions.node);
  if (yes || !stdin.isTTY || !out.isTerminal) return takeDefaults(given, defaults, yes);
  const { ask, QuestionLeftError } = await import("./ask.js");
  try {
    return await ask({ given, defaults, cwd, overwrite, signal });
  } catch (error) {
    if (!(error instanceof QuestionLeftError)) throw error;
    out.note("Nothing was written.");
    return "left";
  }
}

interface PlannedProject {
  folder: string;
  plan: readonly PlannedFile[];
  tarball: Tarball | undefined;
  context: CommandContext;
}

/** Paths of the project's files. */
function filesOf({ plan, tarball }: PlannedProject): string[] {
  return [...plan.map(({ path }) => path), ...(tarball === undefined ? [] : [tarball.to])];
}

function showPlan(answers: Answers, project: PlannedProject): void {
  const { folder, context } = project;
  const { out } = context;
  const files = filesOf(project);
  out.result({ kind: "plan", ...describe(answers, folder), files }, files.join("\n"));
  out.note(`\n${files.length} files would be written to ${folder}.`);
}

async function create(answers: Answers, place: PlannedProject & { overwrite: boolean }): Promise<ExitCode> {
  const { folder, plan, tarball, overwrite, context } = place;
  const { out, signal, cwd } = context;
  const git = answers.git && !(await isInRepository(nearestFolder(folder)));
  let isInstalled = false;
  const failures: string[] = [];
  const prepare = async (draft: string): Promise<void> => {
    if (tarball !== undefined) await copyTarball(tarball, draft);
    if (git) await tolerate(failures, () => initGit(draft, signal));
    if (answers.install) isInstalled = await tolerate(failures, () => install(answers, draft, context));
  };
  try {
    await writeScaffold(plan, { folder, overwrite, signal, prepare });
  } catch (error) {
    if (!signal.aborted) throw error;
    out.note("Interrupted; nothing was written.");
    return EXIT.interrupted;
  }
  const next = nextSteps(answers, { folder, cwd, isInstalled });
  const steps = next.map(([line, what], index) => {
    return `  ${index + 1}. ${out.paint.bold(line)}${what === "" ? "" : `  ${out.paint.dim(what)}`}`;
  });
  out.result(
    {
      kind: "created",
      ...describe({ ...answers, git }, folder),
      installed: isInstalled,
      failures,
      files: filesOf(place),
      next: next.map(([line]) => line),
    },
    [`${out.paint.green("✓")} ${folder}: ${filesOf(place).length} files, ${answers.template}.`, "", ...steps, ""].join(
      "\n",
    ),
  );
  noteNode(answers, out);
  for (const failure of failures) out.note(`${out.paint.yellow("!")} ${failure}\n`);
  return failures.length === 0 ? EXIT.ok : EXIT.failed;
}

function describe(answers: Answers, folder: string): Record<string, unknown> {
  const { template, events, packageManager, git, docker, nodePackage } = answers;
  return { folder, template, events, packageManager, git, docker, nodePackage };
}

/** A note for a machine whose Node is older than the project's. */
function noteNode({ nodePackage, packageManager }: Answers, out: Output): void {
  const { node } = process.versions;
  if (!isOlderThanProject(node)) return;
  const how = nodePackage
    ? "the npm package node brings it, and the project's scripts run on it."
    : PACKAGE_MANAGERS[packageManager].runsNodePackage
      ? "install it, or make the project with --node-package."
      : `install it, as ${packageManager} runs scripts on the Node that runs it, or make the project with --pm npm.`;
  out.note(`This machine has Node ${node}, and the project is for Node ${PROJECT_NODE}: ${how}\n`);
}

async function install({ packageManager }: Answers, folder: string, { signal, out }: CommandContext): Promise<void> {
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
