import type { PackageManagerName } from "./package-manager.js";

/** The Node version of new projects. */
export const PROJECT_NODE = 24;

/**
 * Packages of a project that brings this Node: the npm package `node`, and the better-sqlite3 for it, even if another
 * Node installs them.
 */
const NODE_VERSION = "24.21.0";
const DRIVER_VERSION = "13.2.0";

/**
 * Settings of a package manager; packages run install scripts only if they are listed, as those that download or
 * compile are.
 */
interface Settings {
  /** Fields of package.json. */
  readonly fields: object;
  readonly file?: { readonly path: string; readonly content: string };
}

/**
 * How a project's package manager must install. `nodePackage`: the project brings its own Node. better-sqlite3 contains
 * its binaries. The build script that a package manager detects would only need Python and a compiler.
 */
export function managerSettings(packageManager: PackageManagerName, nodePackage: boolean): Settings {
  const built = nodePackage ? ["esbuild", "node"] : ["esbuild"];
  const node = nodePackage ? { devDependencies: { node: NODE_VERSION } } : {};
  switch (packageManager) {
    case "npm": {
      const allowScripts = { "better-sqlite3": false, ...Object.fromEntries(built.map((name) => [name, true])) };
      // npm chooses by the version of Node that runs npm.
      const overrides = nodePackage ? { overrides: { "better-sqlite3": DRIVER_VERSION } } : {};
      return { fields: { ...node, ...overrides, allowScripts } };
    }
    case "pnpm":
      return { fields: node, file: { path: "pnpm-workspace.yaml", content: pnpmSettings(built) } };
    case "yarn": {
      const fields = { ...node, dependenciesMeta: { "better-sqlite3": { built: false } } };
      return { fields, file: { path: ".yarnrc.yml", content: "nodeLinker: node-modules\n" } };
    }
    case "bun":
      return { fields: { ...node, trustedDependencies: built } };
  }
}

/** pnpm 11 and later end with an error where `allowBuilds` says nothing of a package with a script. */
function pnpmSettings(built: readonly string[]): string {
  return [
    "allowBuilds:",
    ...["better-sqlite3: false", ...built.map((name) => `${name}: true`)].map((line) => `  ${line}`),
    "# For pnpm before 10.26:",
    "onlyBuiltDependencies:",
    ...built.map((name) => `  - ${name}`),
    "ignoredBuiltDependencies:",
    "  - better-sqlite3",
    "",
  ].join("\n");
}
