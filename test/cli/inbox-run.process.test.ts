import { expect, test } from "vitest";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { untilWork } from "../support/receiver.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { type App, startReceiverApp } from "./app.js";

/** An event whose handler has failed once. */
async function receiveFailing(app: App): Promise<string> {
  const event = sampleEvent("email.complained");
  await deliver(app.receiver, event, { secret: SECRET });
  await untilWork(app.receiver, event.id, { state: "pending", attempts: 1 }, "complaints");
  return event.id;
}

test("inbox run runs waiting work now, which keeps its attempts, and inbox retry names it", async () => {
  const app = await startReceiverApp();
  const [first, second] = [await receiveFailing(app), await receiveFailing(app)];
  const inbox = (...args: string[]) => runCli(["inbox", ...args, "--db", app.file]);
  const retried = await inbox("retry", first);
  expect([retried.code, retried.stdout]).toEqual([
    0,
    `${first}  nothing to retry: it waits for its next run, which inbox run begins now\n`,
  ]);
  const ran = await inbox("run", first);
  expect([ran.code, ran.stdout]).toEqual([0, `${first}  1 piece of work will run now\n`]);
  await untilWork(app.receiver, first, { state: "pending", attempts: 2 }, "complaints");
  expect(jsonLines(await inbox("run", "--handler", "complaints", "--error", "LATER", "--json"))).toMatchObject([
    { events: 2, work: 2, hasReceiver: true },
  ]);
  await untilWork(app.receiver, first, { state: "pending", attempts: 3 }, "complaints");
  await untilWork(app.receiver, second, { state: "pending", attempts: 2 }, "complaints");
  const none = await inbox("run", "--type", "email.sent");
  expect([none.code, none.stdout]).toEqual([0, "No such work waits for its next run.\n"]);
});

test("inbox run needs ids or a choice, and not both", async () => {
  const app = await startReceiverApp();
  const inbox = (...args: string[]) => runCli(["inbox", "run", ...args, "--db", app.file]);
  const nothing = await inbox();
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain(
    "choose work with --all, --handler, --type, --error, --error-group, --since or --until",
  );
  expect((await inbox("evt_1", "--all")).code).toBe(2);
  const missing = await inbox("evt_1");
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("No event with id")]);
});

test("trigger names the command that does not wait for the next run", async () => {
  const app = await startReceiverApp();
  const args = ["trigger", "email.complained", "--id", "evt_1", "--to", app.url, "--inbox", app.file];
  const { stdout } = await runCli(args, { env: { WEBHOOK_SECRET: SECRET } });
  expect(stdout).toContain(`To run it now: npx pigeonhole inbox run evt_1 --db ${app.file}`);
});
