import { execFileSync } from "node:child_process";
import { readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeClock } from "pigeonhole/testing";
import { expect, onTestFinished, test } from "vitest";
import { openCaptureFolder } from "#pigeonhole/capture/folder/capture-folder.js";
import { makeCapture, NOW } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";

const open = (path: string) => openCaptureFolder(path, { clock: fakeClock(NOW) });

test("of a capture folder only files of ours are deleted, and no pipe or link is read", async () => {
  const folder = open(makeFolder());
  const capture = makeCapture();
  await folder.add(capture);
  const path = (name: string): string => join(folder.path, name);
  const theirs = ["Cargo.lock", "draft.tmp", "notes.json.tmp"];
  const ours = [`${capture.id}.json.lock`, "a.json.lock.7.tmp", "b.json.00ff00ff00ff.tmp"];
  for (const name of [...theirs, ...ours]) {
    writeFileSync(path(name), "");
    utimesSync(path(name), 1, 1);
  }
  execFileSync("mkfifo", [path("pipe.json")]);
  symlinkSync(path(`${capture.id}.json`), path("link.json"));
  const again = open(join(folder.path, ".."));
  expect(again.broken).toEqual([
    { file: path("link.json"), reason: "Not a regular file." },
    { file: path("pipe.json"), reason: "Not a regular file." },
  ]);
  expect(readdirSync(folder.path)).toEqual([...theirs, `${capture.id}.json`, "link.json", "pipe.json"].toSorted());
  onTestFinished(again.watch({ changed: () => undefined, removed: () => undefined }));
  rmSync(path(`${capture.id}.json`));
  execFileSync("mkfifo", [path(`${capture.id}.json`)]);
  await expect.poll(() => again.get(capture.id)).toBeUndefined();
});
