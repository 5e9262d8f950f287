import { PACKAGE_MANAGERS, type PackageManagerName } from "./package-manager.js";

/** The Node version of new projects. */
export const PROJECT_NODE = 24;

/**
 * Packages of a project that brings this Node: the npm package `node`, and the better-sqlite3 for it, even if another
 * Node installs them.
 */
const NODE_VERSION = "24.21.0";
const DRIVER_VERSION = "13.2.0";

/** Whether a project brings its own Node: where that of the machine is older, and the package manager runs it. */
export function needsNodePackage(packageManager: PackageManagerName, nodeVersion: string): boolean {
  return Number.parseInt(nodeVersion) < PROJECT_NODE && PACKAGE_MANAGERS[packageManager].runsNodePackage;
}

/** On an older Node, version 12 is installed, which has to be compiled. */
const OLDEST_NODE_OF_DRIVER = 22;

/**
 * Settings of a package manager. Packages run install scripts only if they are listed, as those that download or
 * compile are.
 */
interface Settings {
  /** Fields of package.json. */
  readonly fields: object;
  readonly file?: { readonly path: string; readonly content: string };
}

interface SettingsInput {
  packageManager: PackageManagerName;
  /** Whether the project brings its own Node. */
  nodePackage: boolean;
  /** Of the Node that installs. */
  nodeVersion: string;
}

/**
 * How a project's package manager must install. better-sqlite3 13 contains its binaries. The build script that a
 * package manager detects would only need Python and a compiler. On an old Node, version 12 has to be compiled.
 */
export function managerSettings({ packageManager, nodePackage, nodeVersion }: SettingsInput): Settings {
  const compiles = !nodePackage && Number.parseInt(nodeVersion) < OLDEST_NODE_OF_DRIVER;
  const scripts = { "better-sqlite3": compiles, esbuild: true, ...(nodePackage ? { node: true } : {}) };
  const node = nodePackage ? { devDependencies: { node: NODE_VERSION } } : {};
  switch (packageManager) {
    case "npm": {
      // Without it npm chooses by the Node that runs npm.
      const overrides = nodePackage ? { overrides: { "better-sqlite3": DRIVER_VERSION } } : {};
      return { fields: { ...node, ...overrides, allowScripts: scripts } };
    }
    case "pnpm":
      return { fields: node, file: { path: "pnpm-workspace.yaml", content: pnpmSettings(scripts) } };
    case "yarn": {
      const fields = { ...node, dependenciesMeta: { "better-sqlite3": { built: compiles } } };
      return { fields, file: { path: ".yarnrc.yml", content: "nodeLinker: node-modules\n" } };
    }
    case "bun":
      return { fields: { ...node, trustedDependencies: namesOf(scripts, true) } };
  }
}

/** pnpm 11 and later end with an error where `allowBuilds` says nothing of a package with a script. */
function pnpmSettings(scripts: Readonly<Record<string, boolean>>): string {
  const lists = { onlyBuiltDependencies: namesOf(scripts, true), ignoredBuiltDependencies: namesOf(scripts, false) };
  return [
    "allowBuilds:",
    ...Object.entries(scripts).map(([name, isAllowed]) => `  ${name}: ${isAllowed}`),
    "# For pnpm before 10.26:",
    ...Object.entries(lists)
      .filter(([, names]) => names.length > 0)
      .flatMap(([list, names]) => [`${list}:`, ...names.map((name) => `  - ${name}`)]),
    "",
  ].join("\n");
}

function namesOf(scripts: Readonly<Record<string, boolean>>, isAllowed: boolean): string[] {
  return Object.keys(scripts).filter((name) => scripts[name] === isAllowed);
}
