import { mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { draftBeside, removeOldDrafts } from "#pigeonhole/client/draft-files.js";
import { expect, onTestFinished, test } from "vitest";

const HOUR = 3_600_000;

test("a draft that is gone when it is looked at does not keep the other old ones", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pigeonhole-drafts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const hoursAgo = new Date(Date.now() - 2 * HOUR);
  // The order of a folder is the disk's, so there are many of both.
  for (let pair = 0; pair < 20; pair += 1) {
    const old = draftBeside(join(folder, "a.txt"));
    writeFileSync(old, "");
    utimesSync(old, hoursAgo, hoursAgo);
    // To look at a link to nothing fails as it does for a file that was removed.
    symlinkSync(join(folder, "nothing"), draftBeside(join(folder, "a.txt")));
  }
  await removeOldDrafts(folder);
  const left = readdirSync(folder, { withFileTypes: true });
  expect(left.filter((entry) => !entry.isSymbolicLink())).toEqual([]);
  expect(left).toHaveLength(20);
});
