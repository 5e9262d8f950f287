import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { captureLog } from "../support/capture-log.js";
import { effectsIn, tempFileWithTable } from "../support/store-in.js";
import { openReceiver, workOf } from "../support/receiver.js";
import { makeGate } from "../support/gate.js";
import { postEvent } from "../support/start-receiver.js";

test("a file that another program has locked takes no attempt of a handler that commits", async () => {
  const file = tempFileWithTable();
  const log = captureLog();
  const receiver = openReceiver({ store: file, retry: { maxAttempts: 1 }, logger: log.logger });
  const gate = makeGate();
  receiver.on("email.sent", async ({ id }, { commit }) => {
    await gate.passed;
    await commit(({ db }) => void db.prepare("INSERT INTO effect VALUES (?)").run(id));
  });
  await receiver.start();
  const event = await postEvent(receiver);
  const other = new Database(file);
  onTestFinished(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  gate.open();
  await expect.poll(() => log.named("run_interrupted")).toMatchObject([{ code: "store_busy" }]);
  other.exec("ROLLBACK");
  await expect.poll(() => workOf(receiver, event.id)).toMatchObject({ state: "done", attempts: 1 });
  expect(effectsIn(file)).toEqual([event.id]);
});
