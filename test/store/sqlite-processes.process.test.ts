import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { isOwned } from "#pigeonhole/store/sqlite/file-ownership.js";
import { childFile, startOwner } from "./children/child.js";
import { MINUTE, T } from "./conformance/new-event.js";
import { statesOf } from "./conformance/lease-page.js";
import { leaseSend, recordKeys } from "./conformance/outbox-fixture.js";
import { openFile } from "./open-file.js";
import { makeFolder } from "../support/folder.js";
import { canTrace } from "../support/tools.js";
import { operate } from "../support/operate.js";

let folder: string;
let file: string;

beforeEach(() => {
  folder = makeFolder();
  file = join(folder, "inbox.db");
});

test("a process that is killed leaves its work to the next one at once, though its leases still run", async () => {
  const child = await startOwner(file);
  const store = await openFile(file);
  expect(await store.recover(Date.now())).toEqual({ owner: false, recovered: 0, parked: 0 });
  expect(await statesOf(store, "evt_1")).toEqual({ h: "running" });
  await child.kill();
  expect(await store.recover(Date.now())).toEqual({ owner: true, recovered: 1, parked: 0 });
  expect(await operate(store).getEvent("evt_1")).toMatchObject({ handlers: [{ state: "pending", attempts: 1 }] });
});

test.each([
  ["the path itself", "real/inbox.db", false],
  ["a link to the file", "real/link.db", false],
  ["a link to the file, made before the file", "real/link.db", true],
  ["a link to a link in another folder", "real/deep/again.db", false],
  ["a link to the folder", "folder/inbox.db", false],
  ["a link to the file through a link to the folder", "folder/link.db", false],
])("of two processes one is the owner, if the other opens the database through %s", async (_, path, linkIsFirst) => {
  mkdirSync(join(folder, "real", "deep"), { recursive: true });
  symlinkSync("real", join(folder, "folder"));
  symlinkSync("inbox.db", join(folder, "real", "link.db"));
  symlinkSync(join("..", "link.db"), join(folder, "real", "deep", "again.db"));
  const [plain, linked] = [join(folder, "real", "inbox.db"), join(folder, path)];
  const [first, second] = linkIsFirst ? [linked, plain] : [plain, linked];
  const child = await startOwner(first);
  const store = await openFile(second);
  expect(await store.recover(Date.now())).toMatchObject({ owner: false });
  expect(isOwned(second)).toBe(true);
  await child.kill();
  expect(isOwned(second)).toBe(false);
  expect(await store.recover(Date.now())).toMatchObject({ owner: true });
  // The one lock file is beside the database itself.
  expect(readdirSync(join(folder, "real")).filter((name) => name.endsWith("-owner"))).toEqual(["inbox.db-owner"]);
});

test.runIf(canTrace())("each acknowledged event has been synced to the disk, in a re-opened file too", () => {
  const accepted = 20;
  for (const prefix of ["new", "again"]) {
    const trace = join(folder, `${prefix}.trace`);
    const child = [process.execPath, childFile("accept-some"), file, prefix, String(accepted)];
    execFileSync("strace", ["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", trace, ...child]);
    const syncs = Number(execFileSync("grep", ["-c", "sync(", trace]).toString());
    expect(syncs, prefix).toBeGreaterThanOrEqual(accepted);
  }
});

test("an owner that lost its lock unnoticed makes no call while another process has the file, and all of them after it", async () => {
  const store = await openFile(file);
  expect(await store.recover(T)).toMatchObject({ owner: true });
  // A copy of the folder ends the lock of the process as well.
  readFileSync(`${file}-owner`);
  const other = await startOwner(file);
  await recordKeys(store, "k1");
  for (const look of [T, T + MINUTE]) {
    expect(await store.recover(look)).toMatchObject({ owner: false });
    expect((await leaseSend(store)).send).toBeUndefined();
  }
  await other.kill();
  expect(await store.recover(T + 2 * MINUTE)).toMatchObject({ owner: true });
  expect((await leaseSend(store)).send).toMatchObject({ key: "k1" });
});
