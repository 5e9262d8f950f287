import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type PluginContext, rolldown } from "rolldown";
import { thirdPartyNotices } from "./src/page/third-party-notices.js";

// Bundles src into dist as it ships: a file for each entry, and chunks of what they load. Each other module has a file
// in dist/.modules too, which exports it from its chunk; tests import those, and they are not published. Packages that
// only tools need are bundled too, so that who installs a receiver does not install them.

const SOURCE = resolve(import.meta.dirname, "src");
const DIST = resolve(import.meta.dirname, "dist");
const MODULES = join(DIST, ".modules");
/** What tsc writes: the declarations, and each module by itself. */
const COMPILED = join(DIST, ".tsc");

const { dependencies, peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as Record<
  "dependencies" | "peerDependencies",
  Record<string, string>
>;
const INSTALLED = Object.keys({ ...dependencies, ...peerDependencies });
const isInstalled = (id: string): boolean =>
  id.startsWith("node:") || INSTALLED.some((name) => id === name || id.startsWith(`${name}/`));

const idOf = (name: string): string => join(SOURCE, `${name}.ts`);
const nameOf = (id: string): string => id.slice(SOURCE.length + 1, -".ts".length).replaceAll("\\", "/");

const NAMES = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !path.startsWith("page"))
  .map((path) => nameOf(join(SOURCE, path)));

/** They act when they are loaded, so nothing else is in their files. */
const THREADS = ["checkpoint", "operator", "writer"].map((name) => `store/sqlite/${name}-thread`);
const PROGRAMS = ["cli/bin", ...THREADS];

/**
 * The parts of the package, and the modules that load them. A module is in the first part that needs it, so that chunks
 * import those of earlier parts only.
 */
const PARTS = {
  start: ["cli/bin"],
  protocol: ["protocol"],
  // What the help of commands says as other parts do, and what clients and the threads of a store both make late.
  words: [
    "base/error-text",
    "base/lazy",
    "base/nearest-word",
    "base/package-version",
    "base/text",
    "capture/redact/redaction-profiles",
    "operator/filter-reader",
    "protocol/endpoint-id",
    "protocol/endpoint-path",
    "protocol/event-pattern",
    "store/error-group-id",
    "store/filters",
    "store/state-words",
  ],
  // What the threads of a store load, without the rest of a receiver and its dependencies.
  threads: THREADS,
  // What a receiver needs of a client before its first call.
  calls: ["client/create-lazy-client", "client/errors", "client/retry"],
  client: ["client"],
  receiver: ["index"],
  store: ["store"],
  postgres: ["postgres"],
  sandbox: ["sandbox"],
  testing: ["testing"],
  dashboard: ["dashboard"],
  cli: ["cli/main"],
};
const ROOTS = Object.values(PARTS).flat();
const MISSING = ROOTS.filter((name) => !NAMES.includes(name));
if (MISSING.length > 0) throw new Error(`src has no ${MISSING.join(", ")}. Name the file that took its place.`);

/** Modules by chunk. What a part loads later is in chunks of its own. */
class ChunkPlan {
  readonly #chunks = new Map<string, string>();
  readonly #sizes = new Map<string, number>();
  readonly published = new Set(ROOTS);
  readonly #modules: Pick<PluginContext, "getModuleInfo">;

  constructor(modules: Pick<PluginContext, "getModuleInfo">) {
    this.#modules = modules;
    for (const [part, roots] of Object.entries(PARTS)) this.#add(part, roots.map(idOf));
  }

  /** Nothing for a module that has a file of its own. A bundled package has a chunk of its own. */
  chunkOf(id: string): string | null {
    const bundled = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
    if (bundled !== undefined) return `packages/${bundled}`;
    const chunk = this.#chunks.get(id);
    return chunk === undefined || PROGRAMS.includes(nameOf(id)) || this.#sizes.get(chunk) === 1 ? null : chunk;
  }

  #add(chunk: string, roots: readonly string[]): void {
    const own = new Set(roots.flatMap((root) => [...this.#reach(root)]));
    for (const id of own) this.#chunks.set(id, chunk);
    this.#sizes.set(chunk, own.size);
    const parts = [...own].filter((id) => !PROGRAMS.includes(nameOf(id)));
    const later = new Set(parts.flatMap((id) => this.#imports(id, "dynamicallyImportedIds")));
    const users = new Map<string, number>();
    for (const root of later) {
      this.published.add(nameOf(root));
      for (const id of this.#reach(root)) users.set(id, (users.get(id) ?? 0) + 1);
    }
    const shared = [...users].filter(([, count]) => count > 1).map(([id]) => id);
    if (shared.length > 0) this.#add(`${chunk}-shared`, shared);
    for (const root of later) if (!this.#chunks.has(root)) this.#add(nameOf(root).replaceAll("/", "-"), [root]);
  }

  /** The modules without a chunk that this one loads, with itself. */
  #reach(id: string, reached = new Set<string>()): Set<string> {
    if (reached.has(id) || this.#chunks.has(id)) return reached;
    reached.add(id);
    for (const imported of this.#imports(id, "importedIds")) this.#reach(imported, reached);
    return reached;
  }

  #imports(id: string, kind: "importedIds" | "dynamicallyImportedIds"): string[] {
    return (this.#modules.getModuleInfo(id)?.[kind] ?? []).filter((other) => other.startsWith(SOURCE));
  }
}

/** Copies the declarations of the entries, with those that they refer to. */
function copyDeclarations(): void {
  const copied = new Set<string>();
  const copy = (path: string): void => {
    if (copied.has(path)) return;
    copied.add(path);
    const text = readFileSync(join(COMPILED, path), "utf8");
    mkdirSync(join(DIST, dirname(path)), { recursive: true });
    writeFileSync(join(DIST, path), text);
    for (const [, other = ""] of text.matchAll(/(?:from |import\()"(\.[^"]+)\.js"/g)) {
      copy(join(dirname(path), `${other}.d.ts`));
    }
  };
  for (const root of ROOTS.filter((name) => !name.includes("/"))) copy(`${root}.d.ts`);
}

let plan: ChunkPlan | undefined;
const bundle = await rolldown({
  input: Object.fromEntries(NAMES.map((name) => [name, idOf(name)])),
  platform: "node",
  external: isInstalled,
  preserveEntrySignatures: "allow-extension",
  checks: { ineffectiveDynamicImport: false },
  plugins: [
    {
      name: "plan-chunks",
      buildEnd() {
        plan = new ChunkPlan(this);
      },
    },
    thirdPartyNotices(),
  ],
});
await bundle.write({
  dir: DIST,
  sourcemap: true,
  sourcemapExcludeSources: true,
  comments: false,
  minifyInternalExports: false,
  entryFileNames: ({ name }) => (plan?.published.has(name) ? "[name].js" : ".modules/[name].js"),
  chunkFileNames: "chunks/[name].js",
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ debugName: "plan", name: (id) => plan?.chunkOf(id) ?? null }],
  },
});
await bundle.close();
for (const name of plan?.published ?? []) {
  const file = join(MODULES, `${name}.js`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `export * from ${JSON.stringify(relative(dirname(file), join(DIST, `${name}.js`)))};\n`);
}
copyDeclarations();
