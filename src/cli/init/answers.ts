import type { EventType } from "../../protocol/event-types.js";
import { USUAL_EVENTS } from "../../scaffold/project/event-names.js";
import type { TemplateName } from "../../scaffold/project/templates.js";
import { usageError } from "../frame/command-error.js";

/** What a terminal is asked for where the command line does not say it; all else has defaults and flags. */
export interface Answers {
  /** As typed, relative to the working folder. */
  folder: string;
  template: TemplateName;
  events: readonly EventType[];
}

/** The answers given on the command line; undefined if not given. */
export type GivenAnswers = { readonly [Name in keyof Answers]: Answers[Name] | undefined };

export const USUAL_ANSWERS: Answers = { folder: "mail-receiver", template: "express", events: USUAL_EVENTS };

const FLAGS = { folder: "the folder", template: "--template", events: "--events" } as const;

/** The given answers, and with `--yes` the usual ones for the others; without it an error names what is missing. */
export function takeAnswers(given: GivenAnswers, yes: boolean): Answers {
  const { folder = USUAL_ANSWERS.folder, template = USUAL_ANSWERS.template, events = USUAL_ANSWERS.events } = given;
  const names = Object.keys(FLAGS) as (keyof Answers)[];
  const missing = names.filter((name) => given[name] === undefined).map((name) => FLAGS[name]);
  if (missing.length === 0 || yes) return { folder, template, events };
  throw usageError(
    `Nothing can be asked here, so give ${missing.join(", ")}; or --yes for the defaults ` +
      `(pigeonhole init ${folder} --template ${template} --events ${events.join(",")}).`,
  );
}
