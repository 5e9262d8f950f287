import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { describeOldNode } from "#pigeonhole/cli/old-node.js";

const manifest = JSON.parse(readFileSync(resolve(import.meta.dirname, "../../package.json"), "utf8")) as {
  engines: { node: string };
};
const oldest = manifest.engines.node.replace(">=", "");

describe("a Node that is too old", () => {
  test.each(["18.20.8", "20.20.1", "20.9.9", "8.0.0"])("%s is named, with what to do", (version) => {
    expect(describeOldNode(version)).toEqual({
      message: `Node ${version} is older than ${oldest}.`,
      fix: "Install Node 24.",
    });
  });

  test.each([oldest, "20.21.0", "21.0.0", "22.0.0", "100.0.0"])("%s is not", (version) => {
    expect(describeOldNode(version)).toBeUndefined();
  });

  test("is asked for before the program loads anything that it might not understand", () => {
    const program = readFileSync(resolve(import.meta.dirname, "../../dist/cli/bin.js"), "utf8");
    expect([...program.matchAll(/^import .*"(.*)";$/gm)].map(([, path]) => path)).toEqual(["./old-node.js"]);
  });
});
