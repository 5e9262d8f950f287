import { expect, test } from "vitest";
import { dev } from "#pigeonhole/cli/dev/spec.js";
import { sandbox } from "#pigeonhole/cli/sandbox/spec.js";
import { trigger } from "#pigeonhole/cli/trigger/spec.js";
import type { OptionSpec } from "#pigeonhole/cli/frame/spec.js";
import { DEV_OPTIONS } from "#pigeonhole/dev/options.js";

/** Options of the command that are named after another unit than those of the dev server. */
const NAMES: Record<string, keyof typeof DEV_OPTIONS.rows> = {
  timeout: "timeoutMs",
  maxBody: "maxBodyBytes",
  keep: "keepMs",
  store: "folder",
};

const { sandboxPort, ...ofTheServer } = dev.options;
const withDefault = Object.entries<OptionSpec>(ofTheServer).filter(([, spec]) => spec.default !== undefined);

test("the command line's dev has defaults", () => {
  expect(withDefault.length).toBeGreaterThan(10);
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
