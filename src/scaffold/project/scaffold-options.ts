import { PigeonholeError } from "../../base/error.js";
import { EVENT_TYPES, type EventType } from "../../protocol/event-types.js";
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
  /** @default "express" */
  template?: TemplateName;
  /** Event types that get a handler, a fixture and tests. @default USUAL_EVENTS */
  events?: readonly EventType[];
  /** The package manager whose commands the project's texts show. @default "npm" */
  packageManager?: PackageManagerName;
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

/** Fills in defaults. Throws an `invalid_option` that names the option. */
export function resolveScaffoldOptions(options: ScaffoldOptions): Omit<Required<ScaffoldOptions>, "secret"> {
  const { template = "express", events = USUAL_EVENTS, packageManager = "npm" } = options;
  const { docker = true, nodePackage = false, nodeVersion = String(PROJECT_NODE) } = options;
  checkOneOf("template", template, TEMPLATE_NAMES);
  checkOneOf("packageManager", packageManager, PACKAGE_MANAGER_NAMES);
  for (const type of events) checkOneOf("events", type, EVENT_TYPES);
  if (events.length === 0) {
    throw new PigeonholeError("invalid_option", "events must name at least one event type, such as email.received.");
  }
  if (nodePackage && !PACKAGE_MANAGERS[packageManager].runsNodePackage) {
    throw new PigeonholeError(
      "invalid_option",
      `nodePackage must be false with ${packageManager}, which runs scripts on the Node that runs it. Install Node ${PROJECT_NODE}, or choose another package manager.`,
    );
  }
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(options.name)) {
    throw new PigeonholeError(
      "invalid_option",
      `name must be lower-case letters, digits, "." and "-", got "${options.name}".`,
    );
  }
  const { name, pigeonhole, makeFixture } = options;
  return { name, pigeonhole, makeFixture, template, events, packageManager, docker, nodePackage, nodeVersion };
}

function checkOneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  throw new PigeonholeError("invalid_option", `${option} must be one of ${allowed.join(", ")}, got "${value}".`);
}
