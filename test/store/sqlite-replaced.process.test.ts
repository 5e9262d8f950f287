import { rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { StoreAlarm } from "#pigeonhole/store/store.js";
import { tempFile } from "../support/receiver.js";
import { expectCode, newEvent } from "./conformance/new-event.js";
import { openFile } from "./open-file.js";
import { operate } from "../support/operate.js";

// What the thread notices of its files in real time, while nothing happens.

async function openStore(file: string) {
  const codes: string[] = [];
  const onAlarm = (alarm: StoreAlarm) => codes.push(alarm.kind === "store_unavailable" ? alarm.code : alarm.kind);
  const store = await openFile(file, { onAlarm });
  await store.accept(newEvent("before"));
  return { store, codes };
}

test("a replaced file is noticed while nothing happens, reported once, and the receiver continues from it", async () => {
  const file = tempFile();
  const { store, codes } = await openStore(file);
  rmSync(`${file}-wal`);
  await expect.poll(() => codes).toEqual(["store_replaced"]);
  const accept = () => store.accept(newEvent("after")).catch(() => undefined);
  await expect.poll(accept).toMatchObject({ kind: "stored" });
  expect((await operate(store).listEvents({})).items.map(({ id }) => id)).toEqual(["after", "before"]);
  expect(codes).toEqual(["store_replaced"]);
});

const endOf = (path: string): number => statSync(path).size;

test.runIf(process.platform === "linux").each<[string, (wal: string) => void]>([
  ["emptied", (wal) => truncateSync(wal)],
  ["cut off", (wal) => truncateSync(wal, endOf(wal) - 1)],
  ["overwritten", (wal) => writeFileSync(wal, Buffer.alloc(endOf(wal)))],
])("the store refuses events after its WAL was changed in place (%s), and raises one alarm", async (_, change) => {
  const file = tempFile();
  const { store, codes } = await openStore(file);
  change(`${file}-wal`);
  // Noticed by then while nothing happens: a commit would make the file as long as it was.
  await expect.poll(() => codes).toEqual(["store_corrupt"]);
  await expectCode(store.accept(newEvent("after")), "store_corrupt");
  expect(codes).toEqual(["store_corrupt"]);
});
