import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { startProgram } from "../support/start-program.js";

const ROOT = join(import.meta.dirname, "../..");

const CODE = `import { createReceiver } from "pigeonhole";
import { z } from "zod";
const schemas = { "email.bounced": z.object({ recipient: z.email() }) };
createReceiver({ secrets: "", schemas }).on("email.bouncd", () => undefined);`;

test("the compiler's error for a misspelt type fits on a line, whatever the schemas are", async () => {
  const folder = makeFolder();
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "app.ts"), CODE.replace(`"pigeonhole"`, JSON.stringify(join(ROOT, "dist/index.js"))));
  const compilerOptions = { noEmit: true, incremental: false, rootDir: "/" };
  const settings = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: ["app.ts"], exclude: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  const args = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"];
  const { stdout } = await startProgram({ command: process.execPath, args }).ended;
  const [, ...errors] = stdout.trim().split("error TS2345: ");
  expect(errors).toEqual([
    `Argument of type '"email.bouncd"' is not assignable to parameter of type 'OneOrMore<EventPattern<"email.bounced">>'.`,
  ]);
});
