import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fakeClock, sampleEvent } from "pigeonhole/testing";
import { encodeBody } from "#pigeonhole/capture/model/encode-body.js";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { openCaptureFolder } from "#pigeonhole/capture/folder/capture-folder.js";
import { makeAttempt, makeCapture, NOW } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { eraseCaptures } from "#pigeonhole/capture/redact/erase-captures.js";

const EMAIL = "ann.particular@example.com";

const to = (recipient: string): Capture =>
  makeCapture({
    body: JSON.stringify(sampleEvent("email.sent", { data: { ...sampleEvent("email.sent").data, to: [recipient] } })),
  });

/** A folder with these captures. */
async function folderWith(captures: readonly Capture[]): Promise<{ folder: string; names: () => string[] }> {
  const folder = makeFolder();
  const opened = openCaptureFolder(folder, { clock: fakeClock(NOW) });
  for (const capture of captures) await opened.add(capture);
  return { folder, names: () => readdirSync(opened.path).toSorted() };
}

const nameOf = ({ id }: Capture): string => `${id}.json`;
const base64 = encodeBody(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(EMAIL)]));

describe("eraseCaptures", () => {
  test.each<[where: string, mentioning: Capture]>([
    ["the body", to(EMAIL.toUpperCase())],
    ["the body, pinned", { ...to(EMAIL), pinned: true }],
    ["the note", { ...makeCapture(), note: `ask ${EMAIL}` }],
    [
      "the answer to an attempt",
      { ...makeCapture(), attempts: [makeAttempt({ body: encodeBody(Buffer.from(EMAIL)) })] },
    ],
    ["a body that is no text", { ...makeCapture(), attempts: [makeAttempt({ body: base64 })] }],
  ])(
    "eraseCaptures deletes the file of a capture that mentions the address in %s, and no other",
    async (_, capture) => {
      const other = to("joann.particular@example.com");
      const { folder, names } = await folderWith([capture, other]);
      expect(await eraseCaptures({ email: EMAIL, folder, dryRun: true })).toEqual({ captures: 1, filesLeft: [] });
      expect(names()).toHaveLength(2);
      expect(await eraseCaptures({ email: EMAIL, folder })).toEqual({ captures: 1, filesLeft: [] });
      expect(names()).toEqual([nameOf(other)]);
    },
  );

  test("eraseCaptures is seen by a process that has the folder open", async () => {
    const capture = to(EMAIL);
    const { folder } = await folderWith([capture]);
    const open = openCaptureFolder(folder, { clock: fakeClock(NOW) });
    const end = open.watch({ changed: () => undefined, removed: () => undefined });
    await eraseCaptures({ email: EMAIL, folder });
    await expect.poll(() => open.list()).toEqual([]);
    end();
  });

  test("eraseCaptures deletes a second file of the same capture, and what a killed process was writing", async () => {
    const capture = to(EMAIL);
    const { folder, names } = await folderWith([capture]);
    const path = (name: string): string => join(folder, "captures", name);
    const text = readFileSync(path(nameOf(capture)), "utf8");
    writeFileSync(path("copy.json"), text);
    writeFileSync(path("half.json.00ff00ff00ff.tmp"), text.slice(0, -20));
    utimesSync(path("half.json.00ff00ff00ff.tmp"), 1, 1);
    expect(await eraseCaptures({ email: EMAIL, folder })).toEqual({ captures: 2, filesLeft: [] });
    expect(names()).toEqual([]);
  });

  test.each<[what: string, name: string, write: (file: string) => void, reason: RegExp]>([
    ["is not JSON", "a.json", (file) => writeFileSync(file, `{"to":"${EMAIL}"`), /^Not a capture/],
    ["is not a capture", "a.json", (file) => writeFileSync(file, JSON.stringify({ to: EMAIL })), /./],
    ["cannot be read", "a.json", (file) => mkdirSync(file), /^Not a regular file\.$/],
    [
      "cannot be deleted",
      // No room for the name of its lock.
      `${"a".repeat(249)}.json`,
      (file) => writeFileSync(file, JSON.stringify(to(EMAIL))),
      /^Cannot be deleted \(ENAMETOOLONG\)\.$/,
    ],
  ])(
    "eraseCaptures names a file that %s, without the address, and deletes the others",
    async (_, name, write, reason) => {
      const { folder, names } = await folderWith([to(EMAIL)]);
      write(join(folder, "captures", name));
      const erased = await eraseCaptures({ email: EMAIL, folder });
      expect(erased).toEqual({
        captures: 1,
        filesLeft: [{ file: join(folder, "captures", name), reason: expect.stringMatching(reason) as string }],
      });
      expect(JSON.stringify(erased)).not.toContain("particular");
      expect(names()).toEqual([name]);
    },
  );

  test("eraseCaptures names a folder that cannot be read", async () => {
    const folder = makeFolder();
    symlinkSync("captures", join(folder, "captures"));
    const { captures, filesLeft } = await eraseCaptures({ email: EMAIL, folder });
    expect([captures, filesLeft]).toEqual([
      0,
      [{ file: folder, reason: expect.stringContaining("captures is a symbolic link, which is not followed.") }],
    ]);
  });

  test.each([
    ["what is not one address", { email: "ann", folder: "." }],
    ["a folder without captures", { email: EMAIL, folder: "/nowhere" }],
  ])("eraseCaptures refuses %s", async (_, options) => {
    await expect(eraseCaptures(options)).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
