import { expect, test } from "vitest";
import { readRows } from "../support/inbox-file.js";
import { tempFile } from "../support/receiver.js";
import { killInBatch } from "./kill-batch.js";

test("an event that kills processes takes the others of its batch with it once, and none is lost or written twice", async () => {
  const file = tempFile();
  const read = () => readRows<{ event: string }>(file, "SELECT event FROM effect").map(({ event }) => event);
  await killInBatch({ file }, () => Promise.resolve(read()));
  expect(read()).toHaveLength(11);
});
