import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { TEST_SECRET } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { readSetup } from "#pigeonhole/cli/dev/dev-setup.js";
import { dev } from "#pigeonhole/cli/dev/spec.js";
import { sandbox } from "#pigeonhole/cli/sandbox/spec.js";
import { trigger } from "#pigeonhole/cli/trigger/spec.js";
import type { OptionSpec } from "#pigeonhole/cli/frame/spec.js";
import { DEV_OPTIONS } from "#pigeonhole/dev/options.js";
import { makeFolder } from "../support/folder.js";

/** Options of the command that are named after another unit than those of the dev server. */
const NAMES: Record<string, keyof typeof DEV_OPTIONS.rows> = {
  timeout: "timeoutMs",
};

const { sandboxPort, ...ofTheServer } = dev.options;
const withDefault = Object.entries<OptionSpec>(ofTheServer).filter(([, spec]) => spec.default !== undefined);

test("the command line's dev has defaults", () => {
  expect(withDefault.length).toBeGreaterThan(5);
});

test.each(withDefault)(
  "the default of dev's %s is the one of the dev server",
  (name, { default: text = "", parse }) => {
    const row = DEV_OPTIONS.rows[NAMES[name] ?? (name as keyof typeof DEV_OPTIONS.rows)];
    expect(parse === undefined ? text : parse(text)).toEqual(row.default);
  },
);

test("the sandbox of dev is where the command sandbox has it", () => {
  expect(sandboxPort.default).toBe(sandbox.options.port.default);
});

test("trigger posts to where dev receives", () => {
  const { port, path } = DEV_OPTIONS.rows;
  expect(trigger.options.to.default).toBe(`http://127.0.0.1:${String(port.default)}${String(path.default)}`);
});

test.skipIf(process.platform === "win32")(
  "dev says that other users can read the secret in .env, and only then",
  () => {
    const warningsOf = (mode: number, text: string): string[] => {
      const cwd = makeFolder();
      writeFileSync(join(cwd, ".env"), text, { mode });
      const notes: string[] = [];
      const out = { paint: pc.createColors(false), note: (note: string) => void notes.push(note) };
      const options = { secret: [], forwardTo: [], register: false };
      readSetup({ options, context: { cwd, env: {} } } as unknown as Parameters<typeof readSetup>[0], out as never);
      return notes.map((note) => note.replace(cwd, ""));
    };
    const secret = `WEBHOOK_SECRET=${TEST_SECRET}\n`;
    expect(warningsOf(0o644, secret)).toEqual(["! /.env has a secret, and other users can read it: chmod 600 .env"]);
    expect(warningsOf(0o600, secret)).toEqual([]);
    expect(warningsOf(0o644, "PORT=3000\n")).toEqual([]);
  },
);
