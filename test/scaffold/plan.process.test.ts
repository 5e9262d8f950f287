import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EVENT_TYPES } from "pigeonhole";
import { sampleEvent } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseCapture } from "#pigeonhole/capture/model/parse-capture.js";
import { dev } from "#pigeonhole/cli/dev/spec.js";
import type { OptionSpec } from "#pigeonhole/cli/frame/spec.js";
import { makeFixture } from "#pigeonhole/cli/init/run.js";
import { namesOf, parseEvents } from "#pigeonhole/scaffold/project/event-names.js";
import { detectPackageManager, PACKAGE_MANAGER_NAMES } from "#pigeonhole/scaffold/project/package-manager.js";
import { type PlannedFile, planScaffold } from "#pigeonhole/scaffold/project/plan-scaffold.js";
import { projectName, type ScaffoldOptions } from "#pigeonhole/scaffold/project/scaffold-options.js";
import { TEMPLATE_NAMES } from "#pigeonhole/scaffold/project/templates.js";
import { DEFAULT_ENDPOINT_PATH } from "#pigeonhole/protocol/endpoint-path.js";
import { makeFolder } from "../support/folder.js";
import { ROOT } from "./scratch.js";

function plan(options: Partial<ScaffoldOptions> = {}): Map<string, PlannedFile> {
  const files = planScaffold({ name: "mail", pigeonhole: "^1.2.3", makeFixture, ...options });
  return new Map(files.map((file) => [file.path, file]));
}

function textOf(files: Map<string, PlannedFile>, path: string): string {
  return files.get(path)?.content ?? `there is no ${path}`;
}

interface Manifest {
  name: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

function manifestOf(files: Map<string, PlannedFile>): Manifest {
  return JSON.parse(textOf(files, "package.json")) as Manifest;
}

describe.each(TEMPLATE_NAMES)("the template %s", (template) => {
  test.each(PACKAGE_MANAGER_NAMES)("a template used with %s has no placeholder left", (packageManager) => {
    const files = [...plan({ template, packageManager }).values()];
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter(({ content }) => /\{\{|<!-- (?:if|end) /.test(content)).map(({ path }) => path)).toEqual([]);
    expect(files.filter(({ path }) => /(?:^|\/)_/.test(path)).map(({ path }) => path)).toEqual([]);
  });

  test("a template pins the versions that this repository is tested with", () => {
    const { dependencies, devDependencies } = manifestOf(plan({ template }));
    const { pigeonhole, ...others } = { ...dependencies, ...devDependencies };
    expect(pigeonhole).toBe("^1.2.3");
    const installed = Object.keys(others).map((name) => {
      const text = readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8");
      return [name, (JSON.parse(text) as { version: string }).version];
    });
    expect(others).toEqual(Object.fromEntries(installed));
  });

  test("a template has a handler, a registration and a fixture for each event, and no others", () => {
    const files = plan({ template, events: ["email.delivery_delayed", "form.submitted"] });
    const paths = [...files.keys()].filter((path) => /handlers|fixtures/.test(path));
    expect(paths).toEqual([
      "fixtures/webhooks/email-delivery-delayed.json",
      "fixtures/webhooks/form-submitted.json",
      "src/webhooks/handlers/email-delivery-delayed.ts",
      "src/webhooks/handlers/form-submitted.ts",
      "src/webhooks/handlers/index.ts",
    ]);
    const list = textOf(files, "src/webhooks/handlers/index.ts");
    expect(list).toContain('receiver.on("email.delivery_delayed", onEmailDeliveryDelayed);');
    expect(list).toContain('import { onFormSubmitted } from "./form-submitted.js";');
    expect([...files.values()].filter(({ content }) => content.includes("email.received"))).toEqual([]);
  });

  test("a template passes its own lint and format scripts", () => {
    const folder = makeFolder();
    for (const { path, content } of plan({ template }).values()) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    for (const program of [
      ["oxlint", "--deny-warnings"],
      ["oxfmt", "--check"],
    ] as const) {
      const [name, ...args] = program;
      const bin = join(ROOT, `node_modules/${name}/bin/${name}`);
      const { status, stdout } = spawnSync(process.execPath, [bin, ...args], { cwd: folder, encoding: "utf8" });
      expect([name, status, stdout]).toEqual([name, 0, expect.any(String)]);
    }
    const { scripts } = JSON.parse(textOf(plan({ template }), "package.json")) as { scripts: Record<string, string> };
    expect(scripts).toMatchObject({ lint: "oxlint --deny-warnings", format: "oxfmt" });
  });

  test("a template mounts the receiver at the default path", () => {
    const files = [...plan({ template }).values()].filter(({ path }) => /\.(?:ts|mjs|md)$/.test(path));
    const paths = files.flatMap(({ content }) => [
      ...content.matchAll(/(?<=["` ]|https:\/\/…)\/webhooks(?:\/[\w/]+)?/g),
    ]);
    expect(new Set(paths.map(([path]) => path))).toEqual(new Set([DEFAULT_ENDPOINT_PATH]));
  });

  test("a template mounts the receiver before any body parser", () => {
    const text = textOf(plan({ template }), "src/app.ts");
    const mount = text.search(/app\.post\("\/webhooks\/mail"/);
    const parser = text.indexOf("app.use(express.json())");
    expect(mount).toBeGreaterThan(0);
    expect(parser === -1 || parser > mount).toBe(true);
  });
});

describe("the secret", () => {
  test("the secret is new, complete, and only in .env, which its owner alone can read", () => {
    const [first, second] = [plan(), plan()];
    const secretOf = (files: Map<string, PlannedFile>) =>
      /^WEBHOOK_SECRET=(.*)$/m.exec(textOf(files, ".env"))?.[1] ?? "";
    expect(secretOf(first)).toMatch(/^whsec_[\w-]{43}$/);
    expect(secretOf(first)).not.toBe(secretOf(second));
    expect(first.get(".env")?.mode).toBe(0o600);
    const holders = [...first.values()].filter(({ content }) => content.includes(secretOf(first)));
    expect(holders.map(({ path }) => path)).toEqual([".env"]);
    expect(textOf(first, ".gitignore").split("\n")).toContain(".env");
    expect(textOf(first, ".dockerignore").split("\n")).toContain(".env");
  });
});

describe("the options of init", () => {
  test("every variable that the app or a script reads is in .env.example", () => {
    const files = plan();
    const ofTheApp = [...textOf(files, "src/env.ts").matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name = ""]) => name);
    const ofDev = Object.values<OptionSpec>(dev.options).flatMap(({ variable = [] }) => variable);
    expect([ofTheApp.length > 6, ofDev]).toEqual([true, ["SANDBOX_PORT", "DEV_PORT", "DEV_PAGE_PORT"]]);
    const example = textOf(files, ".env.example");
    const missing = [...ofTheApp, ...ofDev].filter((name) => !new RegExp(`^(?:# )?${name}=`, "m").test(example));
    expect(missing).toEqual([]);
  });

  test.each([
    ["npm", "npm run app"],
    ["pnpm", "pnpm run app"],
  ] as const)("the script dev of a project with %s starts the app by %s", (packageManager, command) => {
    const { scripts } = JSON.parse(textOf(plan({ packageManager }), "package.json")) as {
      scripts: Record<string, string>;
    };
    expect(scripts["dev"]).toBe(`pigeonhole dev --start "${command}" --with-sandbox`);
  });

  test("a project without docker has no file for it and does not mention it", () => {
    const files = plan({ docker: false });
    expect([...files.keys()].filter((path) => /docker|compose/i.test(path))).toEqual([]);
    expect(textOf(files, "README.md")).not.toMatch(/docker/i);
  });

  test.each([
    ["npm", "npm run trigger -- email.received"],
    ["pnpm", "pnpm run trigger email.received"],
    ["yarn", "yarn run trigger email.received"],
    ["bun", "bun run trigger email.received"],
  ] as const)("a project with %s has a README that says %s", (packageManager, line) => {
    expect(textOf(plan({ packageManager }), "README.md")).toContain(line);
  });

  test("each package manager is told which packages run a script at install, and better-sqlite3 is not one of them", () => {
    const pnpm = textOf(plan({ packageManager: "pnpm" }), "pnpm-workspace.yaml");
    expect(pnpm).toContain("allowBuilds:\n  better-sqlite3: false\n  esbuild: true\n#");
    expect(pnpm).toContain("onlyBuiltDependencies:\n  - esbuild\nignoredBuiltDependencies:\n  - better-sqlite3\n");
    expect(manifestOf(plan({ packageManager: "bun" }))).toMatchObject({ trustedDependencies: ["esbuild"] });
    const yarn = manifestOf(plan({ packageManager: "yarn" }));
    expect(yarn).toMatchObject({ dependenciesMeta: { "better-sqlite3": { built: false } } });
    expect(manifestOf(plan())).toMatchObject({ allowScripts: { "better-sqlite3": false, esbuild: true } });
    expect(manifestOf(plan())).not.toHaveProperty("trustedDependencies");
  });

  test.each(PACKAGE_MANAGER_NAMES)("a project for Node 20 allows %s to compile better-sqlite3 12", (packageManager) => {
    const settingsOf = (options: object) => {
      const files = plan({ packageManager, nodeVersion: "20.20.2", ...options });
      return `${textOf(files, "package.json")}${files.get("pnpm-workspace.yaml")?.content ?? ""}`;
    };
    const isAllowed =
      /"better-sqlite3": true|better-sqlite3: true|"built": true|- better-sqlite3|^ {4}"better-sqlite3",$/m;
    const isDenied = /better-sqlite3"?: false|"built": false|ignoredBuilt/;
    expect(settingsOf({})).toMatch(isAllowed);
    expect(settingsOf({})).not.toMatch(isDenied);
    if (packageManager !== "yarn") expect(settingsOf({ nodePackage: true })).not.toMatch(/better-sqlite3"?: true/);
    expect(settingsOf({ nodeVersion: "22.0.0" })).not.toMatch(/better-sqlite3"?: true|"built": true/);
  });

  test.each(TEMPLATE_NAMES)("a project of %s brings no SQLite of its own, and opens no file itself", (template) => {
    const files = plan({ template });
    expect(Object.keys(manifestOf(files).dependencies).join(" ")).not.toContain("sqlite");
    for (const [path, { content }] of files) {
      if (path.endsWith(".ts")) expect(content, path).not.toMatch(/from "[^"]*(?:sqlite|drizzle)/);
    }
  });

  test.each(PACKAGE_MANAGER_NAMES)("an image with %s has a packed pigeonhole before it installs", (packageManager) => {
    const text = textOf(plan({ packageManager, pigeonhole: "file:vendor/pigeonhole-1.2.3.tgz" }), "Dockerfile");
    const copied = text.indexOf("COPY vendor ./vendor\n");
    expect(copied).toBeGreaterThan(0);
    expect(copied).toBeLessThan(text.indexOf("COPY package.json"));
    expect(textOf(plan({ packageManager }), "Dockerfile")).not.toContain("vendor");
  });

  test("the database that the command reads is the app's", () => {
    const files = plan();
    const line = "DATABASE_FILE=data/inbox.db";
    expect(textOf(files, ".env")).toContain(line);
    expect(textOf(files, ".env.example")).toContain(line);
    expect(textOf(files, "src/database-variables.ts")).toContain('DATABASE_FILE: z.string().default("data/inbox.db")');
    const onPostgres = plan({ template: "express-postgres-app" });
    const url = "postgres://app:app@127.0.0.1:5432/app";
    for (const path of [".env", ".env.example"]) expect(textOf(onPostgres, path)).toContain(`DATABASE_URL=${url}`);
    expect(textOf(onPostgres, "src/database-variables.ts")).toContain(`.default("${url}")`);
    for (const [path, { content }] of onPostgres) expect(content, path).not.toMatch(/DATABASE_FILE|inbox\.db|SQLite/);
  });

  test("image, workflow and package.json name Node 24, and install what the lock file says", () => {
    const files = plan();
    expect(manifestOf(files)).toMatchObject({ engines: { node: ">=24" } });
    expect(textOf(files, "Dockerfile").match(/node:\d+/g)).toEqual(["node:24", "node:24"]);
    expect(textOf(files, "Dockerfile")).toContain("COPY package.json package-lock.json ./\nRUN npm ci\n");
    expect(textOf(files, ".github/workflows/ci.yml")).toMatch(/node-version: 24$[^]*run: "npm ci"/m);
  });

  test.each(PACKAGE_MANAGER_NAMES.filter((name) => name !== "yarn"))(
    "a project with the npm package node makes %s install this repository's Node",
    (packageManager) => {
      const files = plan({ packageManager, nodePackage: true });
      const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
      expect(manifestOf(files).devDependencies).toHaveProperty("node", devDependencies["node"]);
      expect(textOf(files, "README.md")).toContain("the npm package `node`");
      const settings = textOf(files, packageManager === "pnpm" ? "pnpm-workspace.yaml" : "package.json");
      expect(settings).toMatch(/(?:- node$|"node": true|"esbuild",\n +"node")/m);
      expect(textOf(plan({ packageManager }), "README.md")).not.toContain("the npm package `node`");
    },
  );

  test("a project with the npm package node makes npm use the better-sqlite3 of that Node", () => {
    const installed = JSON.parse(
      readFileSync(join(ROOT, "node_modules/better-sqlite3/package.json"), "utf8"),
    ) as object;
    const { overrides } = manifestOf(plan({ nodePackage: true, template: "express-sqlite-app" })) as object as {
      overrides: object;
    };
    expect(overrides).toEqual({ "better-sqlite3": (installed as { version: string }).version });
  });

  test.each([
    ["template", { template: "koa" as "hono" }],
    ["events", { events: [] }],
    ["events", { events: ["email.lost" as "email.sent"] }],
    ["name", { name: "../mail" }],
    ["nodePackage", { nodePackage: true, packageManager: "yarn" as const }],
  ])("an invalid %s is refused, and the error names it: %j", (option, options) => {
    expect(() => plan(options)).toThrow(new RegExp(`^${option} must`));
  });
});

test.each([
  ["development", 3_000],
  ["production", 10_000],
])("an app in %s waits %i ms for its handlers at SIGTERM; tsx kills after 5 s", async (environment, timeoutMs) => {
  vi.stubEnv("NODE_ENV", environment);
  vi.resetModules();
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(ROOT, "templates/__common__/src/stop-on-signal.ts");
  const { stopOnSignal } = (await import(file)) as { stopOnSignal: (running: object) => void };
  const on = vi.spyOn(process, "on").mockReturnThis();
  const stop = vi.fn(() => new Promise(() => undefined));
  stopOnSignal({ server: { once() {}, close() {} }, receiver: { stop }, log: { info() {} } });
  const [, atSigterm] = on.mock.calls.find(([signal]) => signal === ("SIGTERM" as never)) ?? [];
  on.mockRestore();
  atSigterm?.("SIGTERM");
  expect(stop).toHaveBeenCalledWith({ timeoutMs });
});

test("the README of a project on PostgreSQL begins with its database, in a container if there is one", () => {
  const beginning = (docker: boolean) => {
    const [text = "", commands = ""] = textOf(plan({ template: "express-postgres-app", docker }), "README.md").split(
      "```",
    );
    return [/PostgreSQL at `DATABASE_URL`.*Start it first/.test(text), commands.split("\n")[1]];
  };
  expect(beginning(true)).toEqual([true, "docker compose up --detach --wait database"]);
  expect(beginning(false)).toEqual([true, "npm install"]);
  expect(textOf(plan(), "README.md")).not.toContain("PostgreSQL");
});

test.each(EVENT_TYPES)("the schema and the handler of %s take a field that its sample has", (type) => {
  const files = plan({ events: [type] });
  const [, field = ""] = /z\.object\(\{ (\w+): /.exec(textOf(files, "src/webhooks/schemas.ts")) ?? [];
  const { file } = namesOf(type);
  expect(textOf(files, `src/webhooks/handlers/${file}.ts`)).toContain(`{ ${field}: event.data.${field} }`);
  expect(sampleEvent(type).data).toHaveProperty([field], expect.any(String));
});

describe("fixtures", () => {
  test.each(EVENT_TYPES)("the fixtures of %s are captures, and the same in every run", (type) => {
    const text = makeFixture(type);
    expect(makeFixture(type)).toBe(text);
    expect(parseCapture(JSON.parse(text))).toMatchObject({ event: { type }, request: { path: "/webhooks/mail" } });
  });
});

describe("reading the command line", () => {
  test.each([
    ["all", EVENT_TYPES.length],
    ["domain.*", 3],
    ["form.*,form.submitted", 2],
    [" email.received , file.deleted ", 2],
  ])("the events %j select %i types", (text, count) => {
    expect(parseEvents(text)).toHaveLength(count);
  });

  test.each(["", "email.lost", "lost.*", "email.received,nothing"])("the events %j are refused", (text) => {
    expect(() => parseEvents(text)).toThrow(/^events/);
  });

  test.each([
    ["pnpm/10.1.0 npm/? node/v20.20.2 linux x64", "pnpm"],
    ["bun/1.2.0 npm/? node/v22", "bun"],
    ["yarn/1.22.22 npm/? node/v20", "yarn"],
    ["npm/10.8.2 node/v20.20.2", "npm"],
    ["deno/2.0", "npm"],
    [undefined, "npm"],
  ])("the user agent %j means the package manager %s", (agent, name) => {
    expect(detectPackageManager(agent)).toBe(name);
  });

  test.each([
    ["/home/me/Mail Receiver", "mail-receiver"],
    ["/srv/_hooks.v2", "hooks.v2"],
    ["/", "mail-receiver"],
  ])("a project in the folder %s is called %s", (folder, name) => {
    expect(projectName(folder)).toBe(name);
  });
});
