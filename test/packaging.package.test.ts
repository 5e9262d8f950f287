import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// The tarball that npm would publish, unpacked where `npm install` would put it. Only what package.json names as a
// dependency is there beside it, so that an import of anything else is found.

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "pigeonhole-pack-"));
const consumer = join(folder, "consumer");
const installed = join(consumer, "node_modules/pigeonhole");

interface Manifest {
  version: string;
  exports: Record<string, string | Record<string, string>>;
  dependencies: Record<string, string>;
  bin: Record<string, string>;
}

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const entries = Object.keys(manifest.exports).filter((path) => path !== "./package.json");
const specifiers = entries.map((path) => `pigeonhole${path.slice(1)}`);
let tarball = "";
let files: string[] = [];

beforeAll(() => {
  // Without the prepack script, which builds again: other tests are using the build.
  const { stdout } = run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root);
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  tarball = join(folder, packed?.filename ?? "");
  files = (packed?.files ?? []).map(({ path }) => path);

  mkdirSync(installed, { recursive: true });
  run("tar", ["xzf", tarball, "-C", installed, "--strip-components=1"]);
  for (const name of [...Object.keys(manifest.dependencies), "@types/node"]) {
    const link = join(consumer, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  writeFileSync(join(consumer, "package.json"), '{ "name": "consumer", "type": "module", "private": true }');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: string[], cwd = consumer) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  expect(status, `${command} ${args.join(" ")}\n${stdout}\n${stderr}`).toBe(0);
  return { stdout, stderr };
}

function tool(name: string, args: string[]) {
  return run(process.execPath, [join(root, "node_modules/.bin", name), ...args]);
}

describe("the tarball", () => {
  test("the tarball contains the build, the page, the templates, the examples and the documents, and nothing else", () => {
    const kinds = [...new Set(files.map((path) => path.split("/")[0] ?? ""))].toSorted();
    const documents = [".github", "CHANGELOG.md", "LICENSE", "README.md", "docs", "examples", "skills"];
    expect(kinds).toEqual([...documents, "dist", "package.json", "templates"].toSorted());
    expect(files).toEqual(
      expect.arrayContaining([
        "dist/page/index.html",
        "dist/page/THIRD-PARTY-NOTICES.txt",
        "dist/THIRD-PARTY-NOTICES.txt",
      ]),
    );
    expect(files.some((path) => path.startsWith("dist/page/assets/") && path.endsWith(".js"))).toBe(true);
    expect(files).toContain("dist/store/sqlite/writer-thread.js");
    for (const template of ["__common__", "express", "express-sqlite-app", "express-postgres-app", "hono"]) {
      expect(files.filter((path) => path.startsWith(`templates/${template}/`)).length, template).toBeGreaterThan(2);
    }
  });

  test("the tarball contains every file that its documents link", () => {
    const documents = files.filter((path) => path.endsWith(".md") && !path.startsWith("templates/"));
    const linked = documents.flatMap((document) => {
      const text = readFileSync(join(installed, document), "utf8");
      const found = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)];
      return found.map(([, path = ""]) => join(dirname(document), path));
    });
    expect(linked.length).toBeGreaterThan(50);
    expect(linked.filter((path) => !files.includes(path))).toEqual([]);
  });

  test("the tarball contains no tests, sources, databases or build files, and no file that npm would rename or drop", () => {
    const unwanted = files.filter(
      (path) =>
        /\.(tsbuildinfo|tsx|db|tgz|log)$/.test(path) ||
        /(^|\/)(\.env|\.gitignore|\.npmrc|\.npmignore|node_modules)(\/|$)/.test(path) ||
        (path.startsWith("dist/") && (/\.test\./.test(path) || (path.endsWith(".ts") && !path.endsWith(".d.ts")))),
    );
    expect(unwanted).toEqual([]);
  });

  test("the tarball has at most 500 files, among them maps that name the sources", () => {
    expect(files.length).toBeLessThanOrEqual(500);
    for (const part of ["protocol", "calls", "receiver", "postgres", "sandbox", "testing", "dashboard"]) {
      expect(files).toContain(`dist/chunks/${part}.js.map`);
    }
  });

  test("the tarball passes publint", () => {
    expect(tool("publint", ["run", tarball, "--strict"]).stdout).toContain("All good!");
  });

  test("the tarball has correct types for every import, according to attw", () => {
    // ES modules only, which Node 20.19 and newer can `require` too.
    const { stdout } = tool("attw", [tarball, "--profile", "esm-only", "--format", "json"]);
    const { analysis } = JSON.parse(stdout) as { analysis: { entrypoints: Record<string, unknown> } };
    expect(Object.keys(analysis.entrypoints)).toEqual(Object.keys(manifest.exports));
  });
});

describe("a project that installed it", () => {
  test("a project with the package can import every entry, and gets every value that the entry's declarations name", () => {
    for (const [index, entry] of entries.entries()) {
      const declarations = readFileSync(join(root, "src", `${entry === "." ? "index" : entry.slice(2)}.ts`), "utf8");
      const text = declarations.replaceAll(/export type \{[^}]*\}/g, "");
      const names = [...text.matchAll(/export \{([^}]*)\}/g)]
        .flatMap(([, list = ""]) => list.split(","))
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type "))
        .map((name) => name.split(" as ").at(-1) ?? name);
      // Types alone.
      if (entry !== "./store") expect(names.length, entry).toBeGreaterThan(0);
      const script = `console.log(JSON.stringify(Object.keys(await import("${specifiers[index]}"))))`;
      const { stdout } = run(process.execPath, ["--input-type=module", "--eval", script]);
      expect((JSON.parse(stdout) as string[]).toSorted(), entry).toEqual(names.toSorted());
    }
  });

  test("a project with the package loads few files for a receiver, and nothing for any entry that only the command line needs", () => {
    const script = `
      const loaded = [];
      require("node:module").registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const specifiers = ${JSON.stringify(specifiers.filter((specifier) => specifier !== "pigeonhole/postgres"))};
      (async () => {
        for (const specifier of specifiers) await import(specifier);
        console.log(JSON.stringify(loaded));
      })();`;
    const { stdout } = run(process.execPath, ["--eval", script]);
    const loaded = JSON.parse(stdout) as string[];
    expect(
      loaded.filter((url) => /\/chunks\/(cli[-.]|packages\/(commander|@clack|diff|picocolors))/.test(url)),
    ).toEqual([]);
    const receiver = loaded.slice(
      0,
      loaded.findIndex((url) => url.endsWith("/dist/client.js")),
    );
    expect(receiver.filter((url) => url.includes("/dist/")).length).toBeLessThan(10);
  });

  test("a project without pg is told what to install when it starts a store on PostgreSQL", () => {
    const script = `
      import { createReceiver } from "pigeonhole";
      import { createPostgresStore } from "pigeonhole/postgres";
      const store = createPostgresStore({ connectionString: "postgres://localhost/app" });
      const receiver = createReceiver({ secrets: "whsec_" + "a".repeat(32), store, logger: { info() {}, warn() {}, error() {} } });
      await receiver.start().catch(({ code, message }) => console.log(code, message));`;
    const { stdout } = run(process.execPath, ["--input-type=module", "--eval", script]);
    expect(stdout).toMatch(/^driver_unusable .*: npm install pg\n$/);
  });

  test("a project with the package can require it from CommonJS, if Node can do so", () => {
    const script = `process.removeAllListeners("warning"); console.log(typeof require("pigeonhole").createReceiver)`;
    expect(run(process.execPath, ["--input-type=commonjs", "--eval", script]).stdout).toBe("function\n");
  });

  test("a project with the package cannot import what is not exported", () => {
    const script = 'await import("pigeonhole/dist/index.js").catch(({ code }) => console.log(code))';
    const { stdout } = run(process.execPath, ["--input-type=module", "--eval", script]);
    expect(stdout).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED\n");
  });

  test.each([
    ["nodenext", "without PostgreSQL"],
    ["nodenext", "with the types of pg"],
    ["bundler", "without PostgreSQL"],
  ])("a project with the package type-checks under %s %s, including the package's declarations", (resolution, of) => {
    const hasPg = of === "with the types of pg";
    const used = specifiers.filter((specifier) => hasPg || specifier !== "pigeonhole/postgres");
    if (hasPg) symlinkSync(join(root, "node_modules/@types/pg"), join(consumer, "node_modules/@types/pg"));
    const lines = used.map((specifier, index) => `import * as entry${index} from "${specifier}";`);
    writeFileSync(
      join(consumer, "check.ts"),
      `${lines.join("\n")}
import { createReceiver } from "pigeonhole";
import { sampleEvent } from "pigeonhole/testing";
console.log(${used.map((_, index) => `entry${index}`).join(", ")});
const receiver = createReceiver({ secrets: "whsec_x" });
receiver.on("email.bounced", (event) => console.log(event.type satisfies "email.bounced"));
// @ts-expect-error no such type
receiver.on("email.bounce", () => {});
// @ts-expect-error no such type
sampleEvent("email.bounce");
`,
    );
    const compilerOptions = {
      ...(resolution === "nodenext" ? { module: "nodenext" } : { module: "esnext", moduleResolution: "bundler" }),
      target: "es2023",
      lib: ["es2023"],
      types: ["node"],
      strict: true,
      noEmit: true,
      // Ours are checked in full by the project's own build; here it is seen that a consumer can resolve all of them.
      skipLibCheck: false,
    };
    writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["check.ts"] }));
    tool("tsc", ["--project", "."]);
  });

  test("a project with the package has the command, which prints its version", () => {
    const bin = join(installed, manifest.bin["pigeonhole"] ?? "");
    expect(run(process.execPath, [bin, "--version"]).stdout.trim()).toBe(manifest.version);
  });

  test("a project with the package can serve the page, whose files are where the command looks for them", () => {
    const html = readFileSync(join(installed, "dist/page/index.html"), "utf8");
    const assets = [...html.matchAll(/(?:src|href)="\/?([^":]+)"/g)].map(([, path = ""]) => path.replace(/^\.\//, ""));
    expect(assets.length).toBeGreaterThan(1);
    expect(assets.filter((path) => !existsSync(join(installed, "dist/page", path)))).toEqual([]);
  });
});
