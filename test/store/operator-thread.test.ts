import { renameSync } from "node:fs";
import { OperatorThread } from "#pigeonhole/store/sqlite/operator-in-thread.js";
import { expect, test } from "vitest";
import { openReceiver, tempFile } from "../support/receiver.js";
import { expectCode } from "./conformance/fixture.js";

test("a file that was moved away is said to be, and read again once it is put back", async () => {
  const file = tempFile();
  const receiver = openReceiver({ store: file });
  await receiver.start();
  await receiver.stop({ timeoutMs: 0 });
  const thread = new OperatorThread(file);
  renameSync(file, `${file}.away`);
  await expectCode(thread.call("overview", []), "store_replaced");
  renameSync(`${file}.away`, file);
  expect(await thread.call("overview", [])).toMatchObject({ events: { dead: 0 } });
  await thread.end();
});
