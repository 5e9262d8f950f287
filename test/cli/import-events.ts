import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openCaptureFolder } from "#pigeonhole/capture/folder/capture-folder.js";
import { readExport } from "#pigeonhole/capture/folder/read-export.js";
import { makeFolder } from "../support/folder.js";

/** A folder with one capture of each of these events. */
export async function importEvents(...events: object[]): Promise<string> {
  const cwd = makeFolder();
  await writeCaptures(cwd, ...events);
  return cwd;
}

/** Writes one capture of each of these events, as `dev` does. */
export async function writeCaptures(cwd: string, ...events: object[]): Promise<void> {
  const folder = openCaptureFolder(join(cwd, ".pigeonhole"));
  for (const capture of readExport(JSON.stringify(events))) await folder.add(capture);
  await folder.flush();
}

/** A project with one fixture for each of these events. */
export async function makeFixtures(...events: object[]): Promise<string> {
  const cwd = await importEvents(...events);
  mkdirSync(join(cwd, "fixtures"));
  cpSync(join(cwd, ".pigeonhole", "captures"), join(cwd, "fixtures", "webhooks"), { recursive: true });
  return cwd;
}
