import { resolve } from "node:path";
import * as prompts from "@clack/prompts";
import { isPigeonholeError } from "../../base/error.js";
import { EVENT_TYPES, type EventType } from "../../protocol/event-types.js";
import { checkFolder } from "../../scaffold/project/write-scaffold.js";
import { TEMPLATE_NAMES, TEMPLATES, type TemplateName } from "../../scaffold/project/templates.js";
import { type Answers, type GivenAnswers, USUAL_ANSWERS } from "./answers.js";

interface AskInput {
  given: GivenAnswers;
  cwd: string;
  overwrite: boolean;
  signal: AbortSignal;
}

/** Thrown when a question was cancelled with Ctrl-C or Escape. */
export class QuestionLeftError extends Error {
  override readonly name = "QuestionLeftError";
}

/** Asks for the answers that were not given. */
export async function ask(input: AskInput): Promise<Answers> {
  const { given, signal } = input;
  const isOpen = [given.folder, given.template, given.events].includes(undefined);
  if (isOpen) prompts.intro("A project that receives webhooks of your mail workspace");
  const folder = given.folder ?? (await askFolder(input));
  const template = given.template ?? (await askTemplate(signal));
  const events = given.events ?? (await askEvents(signal));
  if (isOpen) prompts.outro("No more questions.");
  return { folder, template, events };
}

async function askFolder({ cwd, overwrite, signal }: AskInput): Promise<string> {
  const initial = USUAL_ANSWERS.folder;
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

async function askEvents(signal: AbortSignal): Promise<EventType[]> {
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
    initialValues: [...USUAL_ANSWERS.events],
    maxItems: 14,
    required: true,
    signal,
  });
  const chosen: ReadonlySet<string> = new Set(answered(answer));
  return EVENT_TYPES.filter((type) => chosen.has(type));
}

/** The library returns a symbol for a cancelled question. */
function answered<Value>(answer: Value): Exclude<Value, symbol> {
  if (typeof answer === "symbol") throw new QuestionLeftError("A question was left unanswered.");
  return answer as Exclude<Value, symbol>;
}
