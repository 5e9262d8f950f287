import { defineConfig } from "vitest/config";

// Without this file, Vitest takes the configuration of a folder above.
export default defineConfig({ test: { include: ["test/**/*.test.ts"] } });
