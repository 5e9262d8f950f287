import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const PROJECT = resolve(import.meta.dirname, "../..");

/** Lets a program take this Node for an old one, before its first line runs. */
const PRETEND = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2", napi: "9" } });
Object.defineProperty(process, "version", { value: "v20.20.2" });`;

test.each(["start", "express-minimal", "existing-app", "exactly-once/receiver", "exactly-once/watch"])(
  "examples/%s.ts prints one line if Node is too old",
  (name) => {
    const preload = `data:text/javascript,${encodeURIComponent(PRETEND)}`;
    const args = ["--import", "tsx", "--import", preload, `examples/${name}.ts`];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PROJECT, encoding: "utf8" });
    expect(stderr).toMatch(/^The examples need Node 22\.14 or later, and this is v20\.20\.2\. .*\n$/);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  },
);
