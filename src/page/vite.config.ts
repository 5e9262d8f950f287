import { join } from "node:path";
import { defineConfig } from "vite";
import { thirdPartyNotices } from "./third-party-notices.js";

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
