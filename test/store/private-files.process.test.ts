import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { Store } from "#pigeonhole/store/store.js";
import { childFile, startOwner } from "./children/child.js";
import { context, expectCode, newEvent, T } from "./conformance/new-event.js";
import { openFile } from "./open-file.js";
import { makeFolder } from "../support/folder.js";
import { captureLog } from "../support/receiver.js";
import { canTrace, isRoot } from "../support/tools.js";

const ENDS = ["", "-wal", "-shm", "-owner"];

let folder: string;
let file: string;

beforeEach(() => {
  folder = makeFolder();
  file = join(folder, "inbox.db");
});

async function useStore(at = file): Promise<Store> {
  const store = await openFile(at);
  await store.recover(T);
  await store.accept(newEvent("evt_1"));
  return store;
}

const modesOf = (path: string): string[] => ENDS.map((end) => (statSync(`${path}${end}`).mode & 0o777).toString(8));
const PRIVATE = ENDS.map(() => "600");

test.each(["0000", "0022", "0177", "0277"])(
  "the files of the database can be read by their user only, with a umask of %s",
  async (umask) => {
    const child = await startOwner(file, umask);
    expect(modesOf(file)).toEqual(PRIVATE);
    await child.kill();
  },
);

test.each(["", "-owner"])(
  'the files of the database are private even after a process died before it had changed the mode of "%s"',
  async (end) => {
    writeFileSync(`${file}${end}`, "");
    chmodSync(`${file}${end}`, 0o644);
    await useStore();
    expect(modesOf(file)).toEqual(PRIVATE);
  },
);

test("the files of the database are made private again if a crash left all of them open to other users", async () => {
  await (await startOwner(file)).kill();
  for (const end of ENDS) chmodSync(`${file}${end}`, 0o666);
  await useStore();
  expect(modesOf(file)).toEqual(PRIVATE);
});

test("the files of the database are private behind a symbolic link to a file that does not exist yet", async () => {
  const link = join(folder, "link.db");
  symlinkSync("inbox.db", link);
  await useStore(link);
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
});

test.runIf(canTrace())("the files of the database never have a wider mode, not even for a moment", () => {
  const trace = join(folder, "trace");
  const child = [process.execPath, childFile("accept-some"), file, "evt", "3"];
  const umask = 'umask 0 && exec "$0" "$@"';
  execFileSync("bash", ["-c", umask, "strace", "-f", "-qq", "-e", "trace=open,openat,creat", "-o", trace, ...child]);
  const made = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.includes(`"${file}`) && line.includes("O_CREAT") && !/ = -1 /.test(line));
  expect(made.length).toBeGreaterThan(2);
  const first = made.find((line) => line.includes(`"${file}"`));
  expect(first).toMatch(/O_EXCL.*, 0600\)/);
  for (const line of made) if (!line.includes(`"${file}"`)) expect(line).toMatch(/, 0600\)/);
});

test.each(ENDS)(
  "a start that finds %j open to others says once what to do about who still has it open",
  async (end) => {
    await (await startOwner(file)).kill();
    chmodSync(`${file}${end}`, 0o644);
    const log = captureLog();
    for (let start = 0; start < 2; start += 1) {
      await (await openFile(file, { logger: log.logger })).close();
    }
    const advice = expect.stringContaining("remove its -owner file");
    const line = expect.objectContaining({ level: 40, files: [`${file}${end}`], advice });
    expect(log.named("files_were_open_to_others")).toEqual([line]);
  },
);

const OTHER_USER = 65_534;

// Only root can give a file to another user.
describe.runIf(process.getuid?.() === 0)("a file beside the database that another user owns", () => {
  test.each(["-wal", "-shm", "-owner"])(
    "a file beside the database that another user owns (%s) is refused with what to do, and left as it is",
    async (end) => {
      await (await startOwner(file)).kill();
      chownSync(`${file}${end}`, OTHER_USER, OTHER_USER);
      const refused = createSqliteStore({ file });
      const opening = refused.open(context);
      await expectCode(opening, "store_failed");
      await expect(opening).rejects.toThrow(`${end} belongs to another user (uid ${OTHER_USER}; this process has 0)`);
      await refused.close();
      expect(statSync(`${file}${end}`).uid).toBe(OTHER_USER);
    },
  );

  test("a file beside the database that another user owns is refused, too, when it appears after the start", async () => {
    const store = await openFile(file);
    writeFileSync(`${file}-owner`, "", { mode: 0o600 });
    chownSync(`${file}-owner`, OTHER_USER, OTHER_USER);
    await expectCode(store.recover(T), "store_failed");
  });

  test("a file beside the database that another user owns is used by root when the database is that user's as well", async () => {
    await (await useStore()).close();
    for (const end of ["", "-owner"]) chownSync(`${file}${end}`, OTHER_USER, OTHER_USER);
    await useStore();
  });
});

// Only root can become another user.
test.runIf(isRoot())("another user can neither open the files nor stop the handlers", async () => {
  writeFileSync(`${file}-owner`, "");
  chmodSync(`${file}-owner`, 0o644);
  chmodSync(folder, 0o755);
  await (await useStore()).close();
  const script = "require('node:fs').openSync(process.argv[1], 'r')";
  for (const end of ["", "-owner"]) {
    expect(existsSync(`${file}${end}`)).toBe(true);
    const opened = spawnSync(process.execPath, ["-e", script, `${file}${end}`], { uid: 65_534, gid: 65_534, cwd: "/" });
    expect(opened.stderr.toString()).toContain("EACCES");
  }
});
