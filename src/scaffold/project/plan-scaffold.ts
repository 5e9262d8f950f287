import { type EventNames, namesOf, renameEvent, repeatEventLines } from "./event-names.js";
import { fillTemplate, keepSections, readTemplate } from "./read-template.js";
import { managerSettings } from "./manager-settings.js";
import { PACKAGE_MANAGERS } from "./package-manager.js";
import { resolveScaffoldOptions, type ScaffoldOptions } from "./scaffold-options.js";
import { TEMPLATES } from "./templates.js";

/** One file to write. */
export interface PlannedFile {
  /** In the project, with slashes. */
  path: string;
  content: string;
  /** 0o600 for a file with a secret. */
  mode: number;
}

/** Written once per event. */
const HANDLER_FILE = "src/webhooks/handlers/email-received.ts";
/** Their lines that name the event are written once per event. */
const EVENT_LISTS: ReadonlySet<string> = new Set([
  "src/webhooks/handlers/index.ts",
  "src/webhooks/schemas.ts",
  "src/receiver.ts",
]);

const DOCKER_FILES: ReadonlySet<string> = new Set(["Dockerfile", "compose.yaml", ".dockerignore"]);

const MINIMAL_LAYERS = ["minimal"];

/** Every file of a new project, by path. Reads the templates and writes nothing. Throws `invalid_option`. */
export function planScaffold(options: ScaffoldOptions): PlannedFile[] {
  const { template, minimal, events, packageManager, docker, name, pigeonhole, secret, ...others } =
    resolveScaffoldOptions(options);
  const { nodePackage, nodeVersion, makeFixture } = others;
  const settings = managerSettings({ packageManager, nodePackage, nodeVersion });
  const { install, run, args, exec, dockerInstall, dockerPrune, ciInstall } = PACKAGE_MANAGERS[packageManager];
  const names = events.map(namesOf);
  const { layers, database, notes } = TEMPLATES[template];
  const [sqlite, postgres] = [database === "sqlite", database === "postgres"];
  const sections = { docker, "node-package": nodePackage, sqlite, postgres, "database-container": docker && postgres };
  const values = {
    name,
    pigeonhole,
    install,
    run,
    args,
    exec,
    "docker-install": `${copyVendor(pigeonhole)}${dockerInstall}`,
    "docker-prune": dockerPrune,
    "ci-install": ciInstall,
    secret,
    "events-list": events.map((type) => `\`${type}\``).join(", "),
    "template-notes": notes,
  };
  const files = [...readTemplate(minimal ? MINIMAL_LAYERS : layers)]
    .filter(([path]) => docker || !DOCKER_FILES.has(path))
    .flatMap(([path, texts]) => spreadEvents(path, textOf(path, texts, settings.fields), names))
    .map(({ path, content }): PlannedFile => {
      const text = fillTemplate(keepSections(content, sections), values);
      return { path, content: text, mode: path === ".env" ? 0o600 : 0o644 };
    });
  const fixtures = (minimal ? [] : names).map(({ type, file }): PlannedFile => {
    return { path: `fixtures/webhooks/${file}.json`, content: makeFixture(type), mode: 0o644 };
  });
  const settingsFile = settings.file === undefined ? [] : [{ ...settings.file, mode: 0o644 }];
  return [...files, ...fixtures, ...settingsFile].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The line of the Dockerfile for a package that is a file of the project: installing needs it. */
function copyVendor(pigeonhole: string): string {
  const folder = /^file:(\w+)\//.exec(pigeonhole)?.[1];
  return folder === undefined ? "" : `COPY ${folder} ./${folder}\n`;
}

/** The text of the highest layer; for package.json, all layers merged. */
function textOf(path: string, texts: readonly [string, ...string[]], fields: object): string {
  if (path !== "package.json") return texts.at(-1) ?? texts[0];
  return mergePackages([...texts, JSON.stringify(fields)]);
}

function spreadEvents(
  path: string,
  content: string,
  events: readonly EventNames[],
): { path: string; content: string }[] {
  if (EVENT_LISTS.has(path)) return [{ path, content: repeatEventLines(content, events) }];
  if (path === HANDLER_FILE) {
    return events.map((event) => ({ path: renameEvent(path, event), content: renameEvent(content, event) }));
  }
  // In other files the event is an example: one that the project handles.
  return events.slice(0, 1).map((event) => ({ path, content: renameEvent(content, event) }));
}

type Fields = Record<string, unknown>;

/** Merges several package.json: objects are merged and sorted by key, other values are replaced. */
function mergePackages(texts: readonly string[]): string {
  const merged = texts.map((text) => JSON.parse(text) as Fields).reduce(mergeFields);
  for (const group of ["dependencies", "devDependencies"]) {
    const versions = (merged[group] ?? {}) as Fields;
    merged[group] = Object.fromEntries(Object.entries(versions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
  return `${JSON.stringify(merged, undefined, 2)}\n`;
}

function mergeFields(below: Fields, above: Fields): Fields {
  const merged = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const old = merged[name];
    merged[name] = isFields(old) && isFields(value) ? mergeFields(old, value) : value;
  }
  return merged;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
