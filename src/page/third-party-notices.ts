import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** What the plugins of Vite and Rolldown have in common. */
interface BundleContext {
  emitFile(file: { type: "asset"; fileName: string; source: string }): unknown;
}

/** Writes the licences of all packages in the bundle beside it, as those licences require. */
export function thirdPartyNotices() {
  return {
    name: "third-party-notices",
    generateBundle(this: BundleContext, _: unknown, bundle: Record<string, object>): void {
      const files = Object.values(bundle).flatMap((chunk) =>
        "modules" in chunk ? Object.keys(Object(chunk.modules)) : [],
      );
      const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []));
      const notices = [...folders].map(readNotice).toSorted();
      if (notices.length === 0) throw new Error("No package was found in the bundle.");
      this.emitFile({
        type: "asset",
        fileName: "THIRD-PARTY-NOTICES.txt",
        source: notices.join(`\n${"-".repeat(80)}\n\n`),
      });
    },
  };
}

/** Throws if a package has no licence text. */
function readNotice(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
    "name" | "version" | "license",
    string
  >;
  const file = readdirSync(folder).find((name) => /^licen[cs]e(?:\.\w+)?$/i.test(name));
  if (file === undefined) throw new Error(`${name} (${dirname(folder)}) has no licence file.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
