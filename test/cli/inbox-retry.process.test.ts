import { expect, test } from "vitest";
import { untilWork } from "../support/receiver.js";
import { jsonLines } from "../support/run-cli.js";
import { type App, startReceiverApp } from "./app.js";

/** An event whose handler has failed once. */
async function receiveFailing(app: App): Promise<string> {
  const id = await app.receive("email.complained");
  await untilWork(app.receiver, id, { state: "retrying", attempts: 1 }, "complaints");
  return id;
}

test("inbox retry runs waiting work now, which keeps its attempts", async () => {
  const app = await startReceiverApp();
  const [first, second] = [await receiveFailing(app), await receiveFailing(app)];
  const retry = (...args: string[]) => app.run("inbox", "retry", ...args);
  const ran = await retry(first);
  expect([ran.code, ran.stdout]).toEqual([0, `${first}  1 piece of work will run now\n`]);
  await untilWork(app.receiver, first, { state: "retrying", attempts: 2 }, "complaints");
  const chosen = ["--state", "retrying", "--handler", "complaints", "--error", "LATER", "--json"];
  expect(jsonLines(await retry(...chosen))).toMatchObject([{ events: 2, runNow: 2, work: 0, hasReceiver: true }]);
  await untilWork(app.receiver, first, { state: "retrying", attempts: 3 }, "complaints");
  await untilWork(app.receiver, second, { state: "retrying", attempts: 2 }, "complaints");
  const none = await retry("--type", "email.sent");
  expect([none.code, none.stdout]).toEqual([0, "No such work is dead or parked, or waits for its next run.\n"]);
});
