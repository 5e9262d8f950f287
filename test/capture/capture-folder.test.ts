import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DAY } from "#pigeonhole/base/duration.js";
import type { Capture } from "#pigeonhole/capture/model/capture.js";
import { openCaptureFolder } from "#pigeonhole/capture/folder/capture-folder.js";
import { bodySize } from "#pigeonhole/capture/model/captured-body.js";
import { readCaptureFolder } from "#pigeonhole/capture/folder/load-folder.js";
import { selectCaptures } from "#pigeonhole/capture/query/select-captures.js";
import { fakeClock, sampleEvent } from "pigeonhole/testing";
import { makeAttempt, makeCapture, NOW } from "../support/captures.js";
import { makeFolder } from "../support/folder.js";
import { errorOf } from "../support/error-of.js";

const clock = fakeClock(NOW);
const open = (path: string, options = {}) => openCaptureFolder(path, { clock, ...options });

/** A folder with these captures. */
async function openWith(...captures: Capture[]) {
  const path = makeFolder();
  const folder = open(path);
  for (const capture of captures) await folder.add(capture);
  return { path, folder };
}

describe("a capture folder", () => {
  test("a capture folder keeps each capture in a private file that git ignores", async () => {
    const path = join(makeFolder(), ".pigeonhole");
    const folder = open(path);
    const capture = makeCapture();
    await folder.add(capture);
    const mode = (file: string): number => statSync(file).mode & 0o777;
    expect(readFileSync(join(path, ".gitignore"), "utf8")).toBe("*\n");
    expect([mode(path), mode(folder.path)]).toEqual([0o700, 0o700]);
    expect(readdirSync(folder.path)).toEqual([`${capture.id}.json`]);
    expect(mode(join(folder.path, `${capture.id}.json`))).toBe(0o600);
    expect(open(path).get(capture.id)).toEqual(capture);
  });

  test.each([
    ["opened", open],
    ["read", readCaptureFolder],
  ])(
    "a capture folder that others can read is made private when it is %s, and nothing behind a link is",
    async (_, use) => {
      const capture = makeCapture();
      const { path, folder } = await openWith(capture);
      const outside = join(path, "outside.json");
      const [file, broken] = [join(folder.path, `${capture.id}.json`), join(folder.path, "broken.json")];
      writeFileSync(broken, "{");
      writeFileSync(outside, JSON.stringify(makeCapture()));
      symlinkSync(outside, join(folder.path, "link.json"));
      for (const each of [file, broken, outside]) chmodSync(each, 0o644);
      chmodSync(folder.path, 0o755);
      use(path);
      const modes = [folder.path, file, broken, outside].map((each) => (statSync(each).mode & 0o777).toString(8));
      expect(modes).toEqual(["700", "600", "600", "644"]);
    },
  );

  test.each([".pigeonhole", ".pigeonhole/captures"])("behind a link at %s nothing is touched", (link) => {
    const [project, elsewhere] = [makeFolder(), makeFolder()];
    const path = join(project, ".pigeonhole");
    for (const made of [join(elsewhere, "captures"), ...(link === ".pigeonhole" ? [] : [path])]) mkdirSync(made);
    const target = link === ".pigeonhole" ? elsewhere : join(elsewhere, "captures");
    symlinkSync(target, join(project, link));
    const lock = join(elsewhere, "captures", `${makeCapture().id}.json.lock`);
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
    chmodSync(target, 0o755);
    for (const use of [open, readCaptureFolder])
      expect(() => use(path)).toThrow(`${join(project, link)} is a symbolic link, which is not followed.`);
    expect(existsSync(lock)).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o755);
  });

  test("a capture folder is created and watched again after it was deleted", async () => {
    const path = join(makeFolder(), ".pigeonhole");
    const folder = open(path);
    const found: string[] = [];
    const end = folder.watch({ changed: ({ id }) => found.push(id), removed: () => undefined });
    rmSync(path, { recursive: true });
    const [kept, other] = [makeCapture(), makeCapture()];
    await folder.add(kept);
    await folder.update(kept.id, (capture) => ({ ...capture, note: "look" }));
    expect(open(path).get(kept.id)?.note).toBe("look");
    expect(statSync(path).mode & 0o777).toBe(0o700);
    await open(path).add(other);
    await expect.poll(() => found).toContain(other.id);
    end();
  });

  test("a capture folder does not keep a mark that cannot be written, but keeps the answer", async () => {
    const path = makeFolder();
    const capture = makeCapture();
    // The name has room for a lock and none for the file that is written first.
    const file = join(open(path).path, `${"a".repeat(245)}.json`);
    writeFileSync(file, JSON.stringify(capture));
    const folder = open(path);
    const attempt = makeAttempt({ target: "http://127.0.0.1:1/", at: capture.receivedAt });
    const error = await errorOf(() =>
      folder.update(capture.id, (current) => ({ ...current, tags: ["held"], pinned: true, attempts: [attempt] })),
    );
    expect(error).toMatchObject({ code: "ENAMETOOLONG" });
    expect(folder.get(capture.id)).toEqual({ ...capture, attempts: [attempt] });
  });

  test("a capture folder lists captures newest first, even after late arrivals and changes", async () => {
    const [a, b, c] = [makeCapture({ at: NOW + 1 }), makeCapture({ at: NOW + 2 }), makeCapture({ at: NOW + 3 })];
    const { path, folder } = await openWith(b, c, a);
    const changed = await folder.update(b.id, (capture) => ({ ...capture, note: "look" }));
    const wanted = [c, changed, a];
    expect(folder.list()).toEqual(wanted);
    expect(open(path).list()).toEqual(wanted);
  });

  test("a capture folder applies changes of one capture in the order of the calls", async () => {
    const path = makeFolder();
    const folder = open(path);
    const capture = makeCapture();
    void folder.add(capture);
    for (let n = 0; n < 20; n += 1)
      void folder.update(capture.id, ({ tags, ...rest }) => ({ ...rest, tags: [...tags, `${n}`] }));
    await folder.flush();
    expect(open(path).get(capture.id)?.tags).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`));
    expect(readdirSync(folder.path)).toHaveLength(1);
  });

  test("a capture folder deletes the oldest captures over max, but never a pinned one", async () => {
    const path = makeFolder();
    const folder = open(path, { max: 2 });
    const captures = [1, 2, 3, 4].map((n) => ({ ...makeCapture({ at: NOW + n }), pinned: n === 1 }));
    const removed = [];
    for (const capture of captures) removed.push(...(await folder.add(capture)).removed);
    expect(removed).toEqual([captures[1]?.id, captures[2]?.id]);
    expect(open(path).list()).toEqual([captures[3], captures[0]]);
  });

  test("a capture folder deletes the oldest captures when all together are too large", async () => {
    const folder = open(makeFolder(), { maxBytes: 60_000 });
    const captures = [0, 1, 2, 3].map((n) => makeCapture({ at: NOW + n, body: "x".repeat(20_000) }));
    const removed: string[][] = [];
    for (const capture of captures) removed.push((await folder.add(capture)).removed);
    expect(removed).toEqual([[], [], [captures[0]?.id], [captures[1]?.id]]);
    await folder.add(makeCapture({ at: NOW + 4, body: "x".repeat(100_000) }));
    expect(folder.size).toBe(1);
  });

  test("a capture folder reads long bodies when they are looked at, also those of answers", async () => {
    const texts = (text: string) => ({ encoding: "utf8" as const, data: text.repeat(20_000) });
    const capture = makeCapture({ body: "a".repeat(20_000) });
    const { path, folder } = await openWith(capture);
    const attempts = [makeAttempt({ body: texts("b"), sentBody: texts("c") })];
    await folder.update(capture.id, (same) => ({ ...same, attempts }));
    const again = open(path);
    const file = join(folder.path, `${capture.id}.json`);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/"([abc])\1+"/g, '"$1-on-disk"'));
    for (const { request, attempts: made } of [folder.get(capture.id), again.get(capture.id)].flatMap(
      (one) => one ?? [],
    )) {
      const bodies = [request.body, made[0]?.body, made[0]?.sentBody];
      expect(bodies.map((body) => body?.data)).toEqual(["a-on-disk", "b-on-disk", "c-on-disk"]);
      expect(bodySize(request.body)).toBe(20_000);
    }
    rmSync(file);
    expect(() => again.get(capture.id)?.request.body.data).toThrow("Cannot be read (ENOENT).");
  });

  test("a capture folder deletes captures that are older than keepMs, and keeps those that are exactly that old", async () => {
    const folder = open(makeFolder(), { keepMs: DAY });
    const ages = [DAY + 1, DAY, 5];
    const captures = ages.map((age) => makeCapture({ at: NOW - age }));
    const results = [];
    for (const capture of captures) results.push((await folder.add(capture)).removed);
    expect(results).toEqual([[captures[0]?.id], [], []]);
    expect(folder.size).toBe(2);
  });

  test("a capture folder names files that it cannot read, leaves them alone and reads the rest", async () => {
    const capture = makeCapture();
    const { path, folder } = await openWith(capture);
    writeFileSync(join(folder.path, "broken.json"), '{"secret body');
    writeFileSync(join(folder.path, "other.json"), "{}");
    writeFileSync(join(folder.path, "twin.json"), JSON.stringify(capture));
    const again = open(path);
    expect(again.size).toBe(1);
    expect(again.broken.map(({ file }) => file.split("/").at(-1))).toEqual(["broken.json", "other.json", "twin.json"]);
    expect(JSON.stringify(again.broken)).not.toContain("secret body");
    expect(readdirSync(folder.path)).toHaveLength(4);
  });

  test("a capture folder removes captures and their files", async () => {
    const capture = makeCapture();
    const { folder } = await openWith(capture);
    expect(await folder.remove([capture.id, "cap_unknown"])).toBe(1);
    expect(readdirSync(folder.path)).toEqual([]);
    expect((await errorOf(() => folder.update(capture.id, (same) => same))).code).toBe("no_capture");
  });

  test("reading a private capture folder does not change it, and does not create a missing one", async () => {
    const captures = [1, 2].map((n) => makeCapture({ at: NOW + n }));
    const { path, folder } = await openWith(...captures);
    writeFileSync(join(folder.path, "broken.json"), "{");
    rmSync(join(path, ".gitignore"));
    const before = [readdirSync(path), readdirSync(folder.path), statSync(folder.path).ctimeMs];
    const read = readCaptureFolder(path);
    expect(read.list()).toEqual(captures.toReversed());
    expect(read.get(captures[0]?.id ?? "")).toEqual(captures[0]);
    expect(read.broken).toHaveLength(1);
    expect([readdirSync(path), readdirSync(folder.path), statSync(folder.path).ctimeMs]).toEqual(before);
    const none = join(path, "none");
    expect((await errorOf(() => readCaptureFolder(none))).code).toBe("invalid_argument");
    expect(existsSync(none)).toBe(false);
  });
});

describe("picking captures", () => {
  const bounced = makeCapture({ at: NOW - 3_000 });
  const sent = { ...makeCapture({ at: NOW - 2_000, body: JSON.stringify(sampleEvent("email.sent")) }), tags: ["vip"] };
  const newest = makeCapture({ at: NOW - 1_000 });
  const all = [newest, sent, bounced];
  const reader = { list: () => all, get: (id: string) => all.find((capture) => capture.id === id) };
  const pick = (...words: string[]) => selectCaptures(reader, words, ".", NOW);

  test.each([
    ["last", [newest]],
    ["last:email.sent", [sent]],
    ["all", [bounced, sent, newest]],
    [sent.id, [sent]],
    [sent.event.id ?? "", [sent]],
    [sent.id.slice(-6), [sent]],
    [`#${sent.id.slice(-6)}`, [sent]],
    [sent.id.slice("cap_".length), [sent]],
    ["tag:vip", [sent]],
    ["type:email.bounced after:10m", [bounced, newest]],
  ])("the query %s picks captures", (word, wanted) => expect(pick(word)).toEqual(wanted));

  test("several words pick each capture once, oldest first", () => {
    expect(pick("last", "all", sent.id)).toEqual([bounced, sent, newest]);
  });

  test("a short name that is also the beginning of another id is refused, and the error names both captures", async () => {
    const word = sent.id.slice(-6);
    const twin = makeCapture({ at: NOW, body: JSON.stringify({ ...sampleEvent("email.sent"), id: `${word}-1` }) });
    const both = { list: () => [twin, ...all], get: () => undefined };
    const error = await errorOf(() => selectCaptures(both, [word], ".", NOW));
    expect([error.code, error.message]).toEqual(["no_capture", expect.stringContaining(`2 captures could be meant`)]);
    for (const { id } of [sent, twin]) expect(error.message).toContain(id);
    expect(selectCaptures(both, [`#${word}`], ".", NOW)).toEqual([sent]);
  });

  test("a file name without a path is taken for an id, and the error says how to write it as a file", async () => {
    // Where tests run there is always this one.
    const error = await errorOf(() => pick("LICENSE"));
    expect([error.code, error.message]).toEqual(["no_capture", expect.stringContaining("write ./LICENSE.")]);
    expect((await errorOf(() => pick("nothing"))).message).not.toContain("./");
  });

  test("a path picks files", () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "one.json"), JSON.stringify(sent));
    expect(pick(folder)).toEqual([sent]);
    expect(pick(join(folder, "one.json"))).toEqual([sent]);
  });

  test.each([
    ["last:form.submitted", "no_capture", "form.submitted"],
    ["cap_", "no_capture", "3 captures"],
    ["nothing", "no_capture", "type:email.*"],
    ["tag:none", "no_capture", "tag:none"],
    ["./no-such-folder", "invalid_argument", "no-such-folder"],
    ["colour:red", "invalid_query", "type, status"],
  ])("the query %s is refused with a reason", async (word, code, hint) => {
    const error = await errorOf(() => pick(word));
    expect(error.code).toBe(code);
    expect(error.message).toContain(hint);
  });
});
