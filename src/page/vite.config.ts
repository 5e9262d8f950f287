import { defineConfig } from "vite";

/** The page as static files in dist/page: no inlined assets, because its content security policy allows files only. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: "../../dist/page",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
});
