import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * A new folder, removed after the test and its `afterEach`; by the name that a program in it sees, also where its path
 * has a link.
 */
export function makeFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(realpathSync(parent), "pigeonhole-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}
