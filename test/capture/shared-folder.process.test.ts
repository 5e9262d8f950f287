import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { openCaptureFolder } from "#pigeonhole/capture/folder/capture-folder.js";
import { makeCapture } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { asProgram, runToEnd } from "../support/start-program.js";

const FOLDER_MODULE = import.meta.resolve("#pigeonhole/capture/folder/capture-folder.js");

/** Another process that opens the folder and tags a capture many times. */
async function tagElsewhere(path: string, id: string, name: string, count: number): Promise<void> {
  const code = `
    const { openCaptureFolder } = await import(${JSON.stringify(FOLDER_MODULE)});
    const folder = openCaptureFolder(${JSON.stringify(path)});
    for (let n = 0; n < ${count}; n += 1)
      await folder.update(${JSON.stringify(id)}, (capture) => ({ ...capture, tags: [...capture.tags, "${name}" + n] }));
  `;
  await runToEnd(asProgram(code));
}

function readFile(folder: string, id: string): Capture {
  return JSON.parse(readFileSync(join(folder, `${id}.json`), "utf8")) as Capture;
}

async function openWithOne() {
  const path = makeFolder();
  const folder = openCaptureFolder(path);
  const capture = makeCapture({ at: Date.now() });
  await folder.add(capture);
  return { path, folder, capture };
}

describe("a capture folder that several processes write to", () => {
  test("a shared capture folder loses no change of a capture, however the changes overlap", async () => {
    const { path, folder, capture } = await openWithOne();
    const names = ["a", "b"];
    const others = names.map((name) => tagElsewhere(path, capture.id, name, 30));
    for (let n = 0; n < 30; n += 1)
      await folder.update(capture.id, (current) => ({ ...current, tags: [...current.tags, `own${n}`] }));
    await Promise.all(others);
    const wanted = ["own", ...names].flatMap((name) => Array.from({ length: 30 }, (_, n) => `${name}${n}`));
    expect(readFile(folder.path, capture.id).tags.toSorted()).toEqual(wanted.toSorted());
    expect(readdirSync(folder.path)).toEqual([`${capture.id}.json`]);
  });

  test("a shared capture folder reports what other processes add, change and delete", async () => {
    const { path, folder, capture } = await openWithOne();
    const changes: unknown[] = [];
    const unwatch = folder.watch({
      changed: (after, before) => changes.push({ id: after.id, before: before?.note ?? null, after: after.note }),
      removed: (ids) => changes.push({ removed: ids }),
    });
    onTestFinished(unwatch);
    const other = openCaptureFolder(path);
    await other.update(capture.id, (current) => ({ ...current, note: "theirs" }));
    await expect.poll(() => changes).toEqual([{ id: capture.id, before: "", after: "theirs" }]);
    expect(folder.get(capture.id)?.note).toBe("theirs");

    const added = makeCapture({ at: Date.now() + 1 });
    await other.add(added);
    await expect.poll(() => changes.slice(1)).toEqual([{ id: added.id, before: null, after: "" }]);
    expect(folder.list().map(({ id }) => id)).toEqual([added.id, capture.id]);

    await other.remove([capture.id]);
    await expect.poll(() => changes.slice(2)).toEqual([{ removed: [capture.id] }]);
    expect([folder.get(capture.id), folder.size]).toEqual([undefined, 1]);
  });

  test("a shared capture folder does not report its own writes", async () => {
    const { folder, capture } = await openWithOne();
    const changes: string[] = [];
    onTestFinished(
      folder.watch({
        changed: ({ note }) => changes.push(note),
        removed: (ids) => changes.push(`removed ${ids.length}`),
      }),
    );
    const added = makeCapture({ at: Date.now() + 1 });
    await folder.add(added);
    await folder.update(capture.id, (current) => ({ ...current, note: "own" }));
    await folder.remove([added.id]);
    // What another one writes is seen after all that.
    await openCaptureFolder(join(folder.path, "..")).update(capture.id, (current) => ({ ...current, note: "other" }));
    await expect.poll(() => changes).toEqual(["other"]);
  });

  test("a shared capture folder does not restore what another process has deleted", async () => {
    const { path, folder, capture } = await openWithOne();
    await openCaptureFolder(path).remove([capture.id]);
    await expect(folder.update(capture.id, (current) => current)).rejects.toMatchObject({ code: "no_capture" });
    expect(readdirSync(folder.path)).toEqual([]);
    expect(folder.size).toBe(0);
  });

  test("a shared capture folder leaves a file alone while it is edited by hand, and reads it once it is complete", async () => {
    const { folder, capture } = await openWithOne();
    onTestFinished(folder.watch({ changed: () => undefined, removed: () => undefined }));
    const file = join(folder.path, `${capture.id}.json`);
    writeFileSync(file, '{"v":1, "half');
    await expect(folder.update(capture.id, (current) => current)).rejects.toMatchObject({ code: "invalid_capture" });
    expect(readFileSync(file, "utf8")).toBe('{"v":1, "half');
    expect(folder.get(capture.id)?.note).toBe("");
    writeFileSync(file, JSON.stringify({ ...capture, note: "by hand" }));
    await expect.poll(() => folder.get(capture.id)?.note).toBe("by hand");
  });

  test("a shared capture folder does not wait for a process that was killed during a write, and removes what it left", async () => {
    const { path, folder, capture } = await openWithOne();
    const longAgo = new Date(Date.now() - 120_000);
    for (const name of [`${capture.id}.json.lock`, `${capture.id}.json.00ff00ff00ff.tmp`]) {
      writeFileSync(join(folder.path, name), "");
      utimesSync(join(folder.path, name), longAgo, longAgo);
    }
    await folder.update(capture.id, (current) => ({ ...current, note: "done" }));
    expect(readFile(folder.path, capture.id).note).toBe("done");
    openCaptureFolder(path);
    expect(readdirSync(folder.path)).toEqual([`${capture.id}.json`]);
  });

  test("a shared capture folder keeps what is pinned whatever the limits, and the newest captures as well", async () => {
    const folder = openCaptureFolder(makeFolder(), { max: 1 });
    const pinned = { ...makeCapture({ at: Date.now() }), pinned: true };
    const later = [1, 2].map((n) => makeCapture({ at: Date.now() + n }));
    for (const capture of [pinned, ...later]) await folder.add(capture);
    expect(folder.list()).toEqual([later[1], pinned]);
  });
});
