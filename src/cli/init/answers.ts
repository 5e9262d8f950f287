import type { EventType } from "../../protocol/event-types.js";
import { USUAL_EVENTS } from "../../scaffold/project/event-names.js";
import { PROJECT_NODE } from "../../scaffold/project/manager-settings.js";
import {
  detectPackageManager,
  PACKAGE_MANAGERS,
  type PackageManagerName,
} from "../../scaffold/project/package-manager.js";
import { TEMPLATE_NAMES, type TemplateName } from "../../scaffold/project/templates.js";
import { usageError } from "../frame/command-error.js";

/** Everything that is needed to make a project. */
export interface Answers {
  /** As typed, relative to the working folder. */
  folder: string;
  template: TemplateName;
  events: readonly EventType[];
  packageManager: PackageManagerName;
  install: boolean;
  git: boolean;
  docker: boolean;
  nodePackage: boolean;
}

/** The answers given on the command line; undefined if not given. */
export type GivenAnswers = { readonly [Name in keyof Answers]: Answers[Name] | undefined };

/** `nodeVersion`: of this machine. If it is old, the project brings its own Node. */
export function defaultAnswers(userAgent: string | undefined, nodeVersion: string): Answers {
  return {
    folder: "mail-receiver",
    template: TEMPLATE_NAMES[0] ?? "express",
    events: USUAL_EVENTS,
    packageManager: detectPackageManager(userAgent),
    install: true,
    git: true,
    docker: true,
    nodePackage: isOlderThanProject(nodeVersion),
  };
}

export function isOlderThanProject(nodeVersion: string): boolean {
  return Number.parseInt(nodeVersion) < PROJECT_NODE;
}

/** The flags for the answers that have no default without `--yes`. */
const DECISIONS = { folder: "the folder", template: "--template", events: "--events" } as const;

/**
 * Fills in defaults without asking. Folder, template and events must be given: with `--yes` the defaults are used,
 * otherwise an error names what is missing.
 */
export function takeDefaults(given: GivenAnswers, defaults: Answers, yes: boolean): Answers {
  const missing = Object.entries(DECISIONS).filter(([name]) => given[name as keyof typeof DECISIONS] === undefined);
  if (missing.length > 0 && !yes) {
    const { folder, template, events } = defaults;
    throw usageError(
      `Nothing can be asked here, so give ${missing.map(([, flag]) => flag).join(", ")}; or --yes for the defaults ` +
        `(pigeonhole init ${given.folder ?? folder} --template ${given.template ?? template} --events ${(given.events ?? events).join(",")}).`,
    );
  }
  return fillIn(given, defaults);
}

/** The given answers, with defaults for the others. */
export function fillIn(given: GivenAnswers, defaults: Answers): Answers {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const answers: Answers = { ...defaults, ...said };
  if (given.nodePackage !== undefined) return answers;
  // The project brings its own Node where it needs it and the package manager runs it.
  return { ...answers, nodePackage: defaults.nodePackage && PACKAGE_MANAGERS[answers.packageManager].runsNodePackage };
}
