import { expect, test } from "vitest";
import { tempFile } from "../support/receiver.js";
import { killBetweenCreateAndKeep } from "./kill-once.js";

test("what ctx.once made is found after SIGKILL between the creation and its answer", async () => {
  expect(await killBetweenCreateAndKeep({ file: tempFile() })).toBe(1);
});
