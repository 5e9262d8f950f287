import { readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "pigeonhole/client";
import { expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../support/folder.js";
import { closeServer, listen } from "../support/listen.js";
import { asProgram, startProgram } from "../support/start-program.js";
import { waitUntil } from "../support/wait-until.js";

const SIZE = 3_000_000;
const HOUR = 3_600_000;
const FILE_ID = `file_${"0".repeat(24)}`;

/** A service whose download has a file of so many equal letters, and stops after some of them. */
async function startService(bytes: number): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/plain", "content-length": SIZE });
    if (bytes < SIZE) response.write(Buffer.alloc(bytes, "n"));
    else response.end(Buffer.alloc(SIZE, "n"));
  });
  onTestFinished(() => closeServer(server));
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A process that saves the file, and is killed when so many bytes of it are on the disk. */
async function killWhileSaving(path: string, bytes: number): Promise<void> {
  const program = `
    import { createClient } from "pigeonhole/client";
    const client = createClient({ apiKey: "svc_live_key", baseUrl: ${JSON.stringify(await startService(bytes))} });
    await (await client.files.content("${FILE_ID}")).saveTo(${JSON.stringify(path)});`;
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { signal, ended } = startProgram({ ...asProgram(program), cwd: root });
  const folder = join(path, "..");
  const hasWritten = (name: string): boolean => name.endsWith(".part") && statSync(join(folder, name)).size === bytes;
  const known = new Set(readdirSync(folder));
  await waitUntil("the beginning is on the disk", () =>
    readdirSync(folder).some((name) => !known.has(name) && hasWritten(name)),
  );
  signal("SIGKILL");
  await ended;
}

/** Saves the whole file in this process. */
async function save(path: string): Promise<void> {
  const client = createClient({ apiKey: "svc_live_key", baseUrl: await startService(SIZE) });
  await (await client.files.content(FILE_ID)).saveTo(path);
}

test("a process that is killed while it saves a download leaves the old file, and its part is removed later", async () => {
  const folder = makeFolder();
  const path = join(folder, "a.txt");
  writeFileSync(path, "old");
  await killWhileSaving(path, 0);
  await killWhileSaving(path, 1_000_000);
  expect(readFileSync(path, "utf8")).toBe("old");
  const [first = "", second = "", ...others] = readdirSync(folder).filter((name) => name !== "a.txt");
  expect(others).toEqual([]);
  // Another process may still write to the second, and the third is none of ours.
  const hoursAgo = new Date(Date.now() - 2 * HOUR);
  utimesSync(join(folder, first), hoursAgo, hoursAgo);
  writeFileSync(join(folder, "b.part"), "mine");
  utimesSync(join(folder, "b.part"), hoursAgo, hoursAgo);
  await save(path);
  expect(readFileSync(path, "utf8")).toBe("n".repeat(SIZE));
  expect(readdirSync(folder).toSorted()).toEqual(["a.txt", "b.part", second].toSorted());
});

test("a process that is killed while it saves a download leaves no file where there was none", async () => {
  const path = join(makeFolder(), "a.txt");
  await killWhileSaving(path, SIZE - 1);
  expect(readdirSync(join(path, ".."))).not.toContain("a.txt");
});
