import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, fetchPackage, readJson, run } from "./programs.js";

/** The oldest TypeScript that reads the declarations, one before each change of the compiler, and the newest. */
export const TYPESCRIPT_VERSIONS = ["5.4", "5.9", "6", "7"];

/** The declarations of pg itself cannot be read before TypeScript 5.7. */
const isTooOldForPg = (version: string): boolean => version === "5.4";

/**
 * Compiles a consumer of every entry in the project with this TypeScript, declarations of the package and its
 * dependencies included.
 */
export async function compileConsumer(folder: string, version: string): Promise<void> {
  const modules = await fetchPackage(`typescript${version}`, `typescript@${version}`);
  const { exports } = readJson(join(ROOT, "package.json")) as { exports: Record<string, unknown> };
  const entries = Object.keys(exports).filter(
    (path) => path !== "./package.json" && !(path === "./postgres" && isTooOldForPg(version)),
  );
  const imports = entries.map((path, index) => `import * as entry${index} from "pigeonhole${path.slice(1)}";`);
  const names = entries.map((_, index) => `entry${index}`);
  writeFileSync(join(folder, "consumer.ts"), `${imports.join("\n")}\n${CONSUMER}\nconsole.log(${names.join(", ")});\n`);
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    lib: ["es2023"],
    types: ["node"],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["consumer.ts"] }));
  await run({ command: process.execPath, args: [join(modules, "typescript/bin/tsc"), "--project", "."], cwd: folder });
}

const CONSUMER = `import { createReceiver } from "pigeonhole";
const receiver = createReceiver({ secrets: "whsec_x" });
receiver.on("email.bounced", (event) => console.log(event.type satisfies "email.bounced"));
// @ts-expect-error no such type
receiver.on("email.bounce", () => {});
receiver.on("email.*", (event) => (event.type === "email.bounced" ? event.known satisfies true : undefined));
receiver.on("email.sent", (_, ctx) => ctx.commit(({ db }) => db.prepare("DELETE FROM people").run()));
// @ts-expect-error must be synchronous
receiver.on("email.sent", (_, ctx) => ctx.commit(async () => {}));`;
