import { basename } from "node:path";
import { PigeonholeError } from "../../base/error.js";
import { checkChoice } from "../../base/option-check.js";
import {
  type OptionsOf,
  type Resolved,
  defineOptions,
  flag,
  given,
  oneOf,
  readBy,
  required,
} from "../../base/options.js";
import { EVENT_TYPES, type EventType } from "../../protocol/event-types.js";
import { makeSecret } from "../../protocol/secret.js";
import { USUAL_EVENTS } from "./event-names.js";
import { PROJECT_NODE } from "./manager-settings.js";
import { PACKAGE_MANAGERS, PACKAGE_MANAGER_NAMES, type PackageManagerName } from "./package-manager.js";
import { TEMPLATE_NAMES, type TemplateName } from "./templates.js";

export interface ScaffoldOptions {
  /** Name of the project's package; see `projectName`. */
  name: string;
  /** Version of "pigeonhole" in the project's package.json, such as `^1.2.0`. */
  pigeonhole: string;
  /** The text of one fixture: a capture with a sample event of this type. */
  makeFixture: (type: EventType) => string;
  /** The template that the project is made from. @default "express" */
  template?: TemplateName;
  /** Event types that get a handler, a fixture and tests. @default USUAL_EVENTS */
  events?: readonly EventType[];
  /** The package manager whose commands the project's texts show. @default "npm" */
  packageManager?: PackageManagerName;
  /** Whether it has at most ten files, on Express and SQLite, in place of a template. @default false */
  minimal?: boolean;
  /** Whether there is a Dockerfile and a compose file. @default true */
  docker?: boolean;
  /**
   * Whether the project has the npm package `node`, so that its scripts run on Node 24 with any Node on the machine.
   * @default false
   */
  nodePackage?: boolean;
  /** The Node that installs the packages, as `process.versions.node`. @default the one that projects are made for */
  nodeVersion?: string;
  /** The endpoint's secret in `.env`. @default a new random one */
  secret?: string;
}

/** The defaults and checks of {@link ScaffoldOptions}. */
export const SCAFFOLD_OPTIONS = defineOptions("planScaffold", {
  name: readBy(checkName),
  pigeonhole: required<string>(),
  makeFixture: required<ScaffoldOptions["makeFixture"]>(),
  template: oneOf(TEMPLATE_NAMES, { default: "express" }),
  events: readBy(checkEvents, { default: USUAL_EVENTS }),
  packageManager: oneOf(PACKAGE_MANAGER_NAMES, { default: "npm" }),
  minimal: flag({ default: false }),
  docker: flag({ default: true }),
  nodePackage: flag({ default: false }),
  nodeVersion: given({ default: String(PROJECT_NODE) }),
  secret: readBy((_, secret: string | undefined) => secret ?? makeSecret()),
} satisfies OptionsOf<ScaffoldOptions>);

/** Fills in defaults. Throws an `invalid_option` that names the option. */
export function resolveScaffoldOptions(options: ScaffoldOptions): Resolved<typeof SCAFFOLD_OPTIONS> {
  const resolved = SCAFFOLD_OPTIONS.resolve(options);
  const { nodePackage, packageManager } = resolved;
  if (nodePackage && !PACKAGE_MANAGERS[packageManager].runsNodePackage) {
    throw new PigeonholeError(
      "invalid_option",
      `nodePackage must be false with ${packageManager}, which runs scripts on the Node that runs it. Install Node ${PROJECT_NODE}, or choose another package manager.`,
    );
  }
  return resolved;
}

/** A package name made from the folder's name: lower-case letters, digits, dots and dashes. */
export function projectName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, "-")
    .replaceAll(/^[.-]+|[.-]+$/g, "");
  return name === "" ? "mail-receiver" : name;
}

function checkName(option: string, name: string | undefined): string {
  if (name !== undefined && /^[a-z0-9][a-z0-9.-]*$/.test(name)) return name;
  throw new PigeonholeError(
    "invalid_option",
    `${option} must be lower-case letters, digits, "." and "-", got "${name}".`,
  );
}

function checkEvents(option: string, events: readonly EventType[]): readonly EventType[] {
  for (const type of events) checkChoice(option, type, EVENT_TYPES);
  if (events.length > 0) return events;
  throw new PigeonholeError("invalid_option", `${option} must name at least one event type, such as email.received.`);
}
