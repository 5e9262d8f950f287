import { resolve } from "node:path";
import * as prompts from "@clack/prompts";
import { isPigeonholeError } from "../../base/error.js";
import { EVENT_TYPES, type EventType } from "../../protocol/event-types.js";
import { PACKAGE_MANAGER_NAMES, type PackageManagerName } from "../../scaffold/project/package-manager.js";
import { checkFolder } from "../../scaffold/project/check-folder.js";
import { TEMPLATE_NAMES, TEMPLATES, type TemplateName } from "../../scaffold/project/templates.js";
import { type Answers, type GivenAnswers, takesNodePackage } from "./answers.js";

interface AskInput {
  given: GivenAnswers;
  defaults: Answers;
  cwd: string;
  overwrite: boolean;
  signal: AbortSignal;
}

/** Thrown when a question was cancelled with Ctrl-C or Escape. */
export class QuestionLeftError extends Error {
  override readonly name = "QuestionLeftError";
}

/** Asks for what was not given, with at most five questions. */
export async function ask(input: AskInput): Promise<Answers> {
  const { given, defaults, signal } = input;
  const isOpen = Object.entries(given).some(([name, value]) => value === undefined && !NOT_ASKED.has(name));
  if (isOpen) prompts.intro("A project that receives webhooks of your mail workspace");
  const folder = given.folder ?? (await askFolder(input));
  const template = given.template ?? (await askTemplate(signal));
  const events = given.events ?? (await askEvents(defaults.events, signal));
  const installing = await askInstall(given, defaults, signal);
  const extras = await askExtras(given, defaults, signal);
  if (isOpen) prompts.outro("That is all.");
  const nodePackage = takesNodePackage(installing.packageManager, given, defaults);
  return { folder, template, events, nodePackage, ...installing, ...extras };
}

/**
 * The package manager is asked together with installing. The machine's Node decides whether the project needs its own.
 */
const NOT_ASKED: ReadonlySet<string> = new Set(["packageManager", "nodePackage"]);

async function askFolder({ defaults, cwd, overwrite, signal }: AskInput): Promise<string> {
  const initial = defaults.folder;
  const answer = await prompts.text({
    message: "Where?",
    placeholder: initial,
    defaultValue: initial,
    validate: (text) => problemOf(resolve(cwd, text === undefined || text === "" ? initial : text), overwrite),
    signal,
  });
  return answered(answer);
}

function problemOf(folder: string, overwrite: boolean): string | undefined {
  try {
    checkFolder(folder, overwrite);
    return undefined;
  } catch (error) {
    return isPigeonholeError(error) ? error.message : "This folder cannot be used.";
  }
}

async function askTemplate(signal: AbortSignal): Promise<TemplateName> {
  const options = TEMPLATE_NAMES.map((value) => ({ value, label: value, hint: TEMPLATES[value].summary }));
  return answered(await prompts.select<TemplateName>({ message: "Which template?", options, signal }));
}

async function askEvents(usual: readonly EventType[], signal: AbortSignal): Promise<EventType[]> {
  const groups = [...new Set(EVENT_TYPES.map((type) => type.replace(/\..*/, "")))];
  const options = Object.fromEntries(
    groups.map((group) => [
      group,
      EVENT_TYPES.filter((type) => type.startsWith(`${group}.`)).map((value) => ({ value, label: value })),
    ]),
  );
  const answer = await prompts.groupMultiselect<EventType>({
    message: "Which events get a handler? (space selects)",
    options,
    initialValues: [...usual],
    maxItems: 14,
    required: true,
    signal,
  });
  const chosen: ReadonlySet<string> = new Set(answered(answer));
  return EVENT_TYPES.filter((type) => chosen.has(type));
}

async function askInstall(
  given: GivenAnswers,
  defaults: Answers,
  signal: AbortSignal,
): Promise<Pick<Answers, "packageManager" | "install">> {
  const packageManager = given.packageManager ?? defaults.packageManager;
  if (given.install !== undefined) return { packageManager, install: given.install };
  const others = PACKAGE_MANAGER_NAMES.filter((name) => name !== packageManager);
  const offered = given.packageManager === undefined ? [packageManager, ...others] : [packageManager];
  const answer = await prompts.select<PackageManagerName | "later">({
    message: "Install the packages?",
    options: [
      ...offered.map((value) => ({ value, label: `Yes, with ${value}` })),
      { value: "later" as const, label: "Later" },
    ],
    signal,
  });
  const choice = answered(answer);
  return choice === "later" ? { packageManager, install: false } : { packageManager: choice, install: true };
}

async function askExtras(
  given: GivenAnswers,
  defaults: Answers,
  signal: AbortSignal,
): Promise<Pick<Answers, "git" | "docker">> {
  const { git, docker } = given;
  if (git !== undefined && docker !== undefined) return { git, docker };
  const offered = [
    { value: "git" as const, label: "git repository", isOpen: git === undefined, isUsual: defaults.git },
    { value: "docker" as const, label: "Dockerfile, compose.yaml", isOpen: docker === undefined, isUsual: true },
  ].filter(({ isOpen }) => isOpen);
  const answer = await prompts.multiselect<"git" | "docker">({
    message: "What else?",
    options: offered.map(({ value, label }) => ({ value, label })),
    initialValues: offered.filter(({ isUsual }) => isUsual).map(({ value }) => value),
    required: false,
    signal,
  });
  const chosen = answered(answer);
  return { git: git ?? chosen.includes("git"), docker: docker ?? chosen.includes("docker") };
}

/** The library returns a symbol for a cancelled question. */
function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer === "symbol") throw new QuestionLeftError("A question was left unanswered.");
  return answer as Exclude<Value, symbol>;
}
