import { expect, test } from "vitest";
import { deliver, sampleEvent } from "pigeonhole/testing";
import { partsOf } from "#pigeonhole/receiver/parts-of.js";
import { post, untilWork } from "../support/receiver.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { startReceiverApp } from "./app.js";

test("inbox pause stops a handler of a running receiver until inbox resume, and inbox stats shows it", async () => {
  const app = await startReceiverApp();
  const inbox = (...args: string[]) => runCli(["inbox", ...args, "--db", app.file]);
  const paused = await inbox("pause", "complaints");
  expect([paused.code, paused.stdout]).toEqual([0, "complaints  paused: its work waits until inbox resume\n"]);
  expect((await inbox("pause", "complaints")).stdout).toMatch(/^complaints {2}was paused by cli at 20/);
  await expect.poll(async () => (await app.receiver.stats()).paused).toMatchObject([{ handler: "complaints" }]);
  // Within two polls of the receiver.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const event = sampleEvent("email.complained");
  await post(app.receiver, event, { secret: SECRET });
  const { stdout } = await inbox("stats");
  expect(stdout).toMatch(/paused handlers\n {2}complaints {2}by cli since 20/);
  await untilWork(app.receiver, event.id, { state: "pending", attempts: 0 }, "complaints");
  expect(jsonLines(await inbox("resume", "complaints", "--json"))).toMatchObject([{ changed: true }]);
  expect((await inbox("resume", "complaints")).stdout).toBe("complaints  was not paused\n");
  await untilWork(app.receiver, event.id, { attempts: 1 }, "complaints");
});

test("inbox pause refuses a name that no handler can have, and says with --json that an unknown one has no work", async () => {
  const app = await startReceiverApp();
  const pause = (...args: string[]) => runCli(["inbox", "pause", ...args, "--db", app.file]);
  for (const name of ["", "n".repeat(201)]) {
    expect(await pause(name)).toMatchObject({ code: 2, stderr: expect.stringContaining("1 to 200 characters") });
  }
  expect(jsonLines(await pause("complaintz", "--json"))).toMatchObject([{ handler: "complaintz", hasWork: false }]);
  expect((await app.receiver.stats()).paused?.map(({ handler }) => handler) ?? []).not.toContain("");
});

test("inbox pause says in one line who has paused a handler", async () => {
  const app = await startReceiverApp();
  const operator = partsOf(app.receiver).options.store.openOperator?.() ?? expect.unreachable();
  await operator.pauseHandler("complaints", "ann\nbilling  was resumed");
  const { stdout } = await runCli(["inbox", "pause", "complaints", "--db", app.file]);
  expect(stdout).toMatch(/^complaints {2}was paused by ann.*billing {2}was resumed at 20.*\n$/);
});

test("inbox errors gathers errors, and its groups choose work", async () => {
  const app = await startReceiverApp();
  const inbox = (...args: string[]) => runCli(["inbox", ...args, "--db", app.file]);
  expect((await inbox("errors")).stderr).toContain("No errors.");
  expect(await inbox("errors", "--since", "1h", "--until", "2h")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--since must be before --until"),
  });
  const events = [sampleEvent("email.complained"), sampleEvent("email.complained")];
  for (const event of events) await deliver(app.receiver, event, { secret: SECRET });
  for (const { id } of events) await untilWork(app.receiver, id, { state: "pending", attempts: 1 }, "complaints");
  const [{ group } = expect.unreachable()] = jsonLines(await inbox("errors", "--json")) as { group: { id: string } }[];
  expect(group).toMatchObject({ handler: "complaints", type: "email.complained", events: 2 });
  const table = (await inbox("errors")).stdout;
  expect(table).toMatch(/LAST +EVENTS +HANDLER +TYPE +ERROR +GROUP\n\S+Z +2 +complaints/);
  const listed = await inbox("list", "--error-group", group.id, "--json");
  expect(jsonLines(listed)).toHaveLength(2);
  expect(jsonLines(await inbox("run", "--error-group", group.id, "--json"))).toMatchObject([{ work: 2 }]);
  expect((await inbox("list", "--error-group", "x")).code).toBe(2);
});

test("inbox list --text finds events by what a list shows of them and by the body, as many as wanted", async () => {
  const app = await startReceiverApp();
  const events = ["Ann@example.com", "bob@example.com"].map((recipient) => sampleEvent("email.sent", { recipient }));
  for (const event of events) await deliver(app.receiver, event, { secret: SECRET });
  const list = async (...args: string[]) => {
    const listed = jsonLines(await runCli(["inbox", "list", "--json", "--db", app.file, ...args]));
    return (listed as { event: { id: string } }[]).map(({ event }) => event.id);
  };
  const [ann, bob] = events.map(({ id }) => id);
  const found = await Promise.all([
    list("--text", "ann@EXAMPLE"),
    list("--text", bob ?? ""),
    list("--text", "@example.com", "--limit", "1"),
    list("--text", "nobody"),
  ]);
  expect(found).toEqual([[ann], [bob], [bob], []]);
});
