import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { SUPPORTED_NODE, describeOldNode } from "#pigeonhole/cli/old-node.js";

const manifest = JSON.parse(readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8")) as {
  engines: { node: string };
};

describe("the check of Node's version", () => {
  const OLD = ["18.20.8", "20.20.1", "20.9.9", "8.0.0", "21.7.3", "22.0.0", "22.13.1", "23.5.0"];
  test.each(OLD)("a program on Node %s is refused with what to do", (version) => {
    expect(describeOldNode(version)).toEqual({
      message: `Node ${version} is too old: this needs Node 20 from 20.20.2, 22 from 22.14, or 23.6 and later.`,
      fix: "Install Node 24.",
    });
  });

  test.each(["20.20.2", "20.21.0", "22.14.0", "22.23.3", "23.6.0", "24.0.0", "100.0.0"])(
    "a program on Node %s is not refused",
    (version) => {
      expect(describeOldNode(version)).toBeUndefined();
    },
  );

  test("the check refuses the versions that npm warns of", () => {
    expect(manifest.engines.node).toBe(SUPPORTED_NODE);
  });

  test("the check comes before the program loads anything that an old Node may fail to parse", () => {
    const program = readFileSync(resolve(import.meta.dirname, "../../dist/cli/bin.js"), "utf8");
    expect([...program.matchAll(/^import .*"(.*)";$/gm)].map(([, path]) => path)).toEqual(["../chunks/start.js"]);
    const start = readFileSync(resolve(import.meta.dirname, "../../dist/chunks/start.js"), "utf8");
    expect(start).not.toContain("import");
  });
});
