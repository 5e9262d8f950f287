import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Plugin } from "vite";

const ROOT = resolve(import.meta.dirname, "../..");

/**
 * What threads, processes and the browser load, by the file that has them load it. That file imports none of it, so
 * `--changed` would not know that tests depend on it.
 */
export const LOADED_ELSEWHERE: Record<string, string[]> = {
  "src/store/sqlite/checkpointer.ts": ["src/store/sqlite/checkpoint-thread.ts"],
  "src/store/sqlite/operator-in-thread.ts": ["src/store/sqlite/operator-thread.ts"],
  "src/store/sqlite/thread-writer.ts": ["src/store/sqlite/writer-thread.ts"],
  "test/cli/dev-start.process.test.ts": ["test/cli/receiver-app.mjs"],
  "test/cli/test-command.process.test.ts": ["test/cli/receiver-app.mjs"],
  "test/cluster/cluster-process.ts": ["test/cluster/cluster-receiver.mjs"],
  get "test/dev/page/browser.ts"() {
    return filesIn("src/page", /\.(?:tsx?|css)$/);
  },
  "test/dispatch/one-handler.ts": ["test/dispatch/one-handler.mjs"],
  get "test/process/strangers.test.ts"() {
    return filesIn("test/process", /\.mjs$/);
  },
  "test/receiver/telemetry.process.test.ts": ["test/receiver/without-telemetry.mjs"],
  get "test/store/children/child.ts"() {
    return filesIn("test/store/children", /\.mjs$/);
  },
  "test/support/receiver-process.ts": ["test/support/receiver-process.mjs"],
  "test/support/start-cli.ts": ["src/cli/bin.ts"],
  "test/torture/process/start.ts": ["test/torture/process/torture-receiver.mjs"],
};

function filesIn(folder: string, names: RegExp): string[] {
  const paths = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  return paths.filter((path) => names.test(path)).map((path) => join(folder, path));
}

/** Adds imports that are never run. */
export const followLoads: Plugin = {
  name: "follow-loads",
  transform(code, id) {
    const loaded = LOADED_ELSEWHERE[relative(ROOT, id)];
    if (loaded === undefined) return undefined;
    const imports = loaded.map((path) => `;() => import(${JSON.stringify(join(ROOT, path))})`);
    return { code: [code, ...imports].join("\n"), map: null };
  },
};
