import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineConfig, type Plugin } from "vite";

/**
 * The page of the dev server and of the dashboard as static files in dist/page. No assets are inlined, because the
 * content security policy allows files only. The dashboard is mounted under any path, so that addresses are relative.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  plugins: [thirdPartyNotices()],
  build: {
    outDir: join(import.meta.dirname, "../../dist/page"),
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
});

/** Writes the licences of all packages in the bundle beside it, as those licences require. */
function thirdPartyNotices(): Plugin {
  return {
    name: "third-party-notices",
    generateBundle(_, bundle) {
      const files = Object.values(bundle).flatMap((chunk) =>
        chunk.type === "chunk" ? Object.keys(chunk.modules) : [],
      );
      const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []));
      const notices = [...folders].map(readNotice).toSorted();
      if (notices.length === 0) throw new Error("No package was found in the bundle of the page.");
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
  const text = ["LICENSE", "LICENSE.md", "LICENSE.txt"].flatMap((file) => readIfThere(join(folder, file)))[0];
  if (text === undefined) throw new Error(`${name} (${dirname(folder)}) has no licence file.`);
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

function readIfThere(file: string): string[] {
  try {
    return [readFileSync(file, "utf8")];
  } catch {
    return [];
  }
}
