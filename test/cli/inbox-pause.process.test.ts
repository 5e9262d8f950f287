import { expect, test } from "vitest";
import { sampleEvent } from "pigeonhole/testing";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import { untilWork } from "../support/receiver.js";
import { jsonLines } from "../support/run-cli.js";
import { startReceiverApp } from "./app.js";

test("inbox pause is seen by a running receiver until inbox resume, and inbox stats shows it", async () => {
  const app = await startReceiverApp();
  const inbox = (...args: string[]) => app.run("inbox", ...args);
  const paused = await inbox("pause", "complaints");
  expect([paused.code, paused.stdout]).toEqual([0, "complaints  paused: its work waits until inbox resume\n"]);
  expect((await inbox("pause", "complaints")).stdout).toMatch(/^complaints {2}was paused by cli at 20/);
  await expect.poll(async () => (await app.receiver.stats()).paused).toMatchObject([{ handler: "complaints" }]);
  const { stdout } = await inbox("stats");
  expect(stdout).toMatch(/paused handlers\n {2}complaints {2}by cli since 20/);
  expect(jsonLines(await inbox("resume", "complaints", "--json"))).toMatchObject([{ changed: true }]);
  expect((await inbox("resume", "complaints")).stdout).toBe("complaints  was not paused\n");
  await expect.poll(async () => (await app.receiver.stats()).paused).toEqual([]);
});

test("inbox pause says of a name that nothing knows which handlers there are, and pauses it", async () => {
  const app = await startReceiverApp();
  const operator = partsOf(app.receiver).options.store.openOperator(Date.now);
  await expect
    .poll(async () => (await operator.listHandlers()).map(({ handler }) => handler))
    .toEqual(["all", "blocklist", "bounces", "complaints"]);
  const pause = (...args: string[]) => app.run("inbox", "pause", ...args);
  expect(await pause("bounce")).toEqual({
    code: 0,
    stdout: "bounce  paused: its work waits until inbox resume\n",
    stderr:
      "No work and no receiver of this inbox knows the handler bounce. It stays paused, as it may be new.\n" +
      "Did you mean bounces? Then undo this with inbox resume.\n" +
      "Known handlers: bounces, all, blocklist, complaints.\n",
  });
  const far = await pause("search\nindex");
  expect(far.stderr).toMatch(/^No work and no receiver .* handler search.*index\. .*\nKnown handlers: .*\.\n$/);
  expect(jsonLines(await pause("bounce", "--json"))).toMatchObject([
    { changed: false, hasWork: false, isKnown: false, knownHandlers: ["bounces", "all", "blocklist", "complaints"] },
  ]);
  const known = await pause("bounces");
  expect([known.code, known.stderr]).toEqual([0, ""]);
  const [line = expect.unreachable()] = jsonLines(await pause("bounces", "--json"));
  expect(line).toMatchObject({ hasWork: false, isKnown: true });
  expect(line).not.toHaveProperty("knownHandlers");
  expect((await operator.listHandlers()).filter(({ paused }) => paused !== null)).toMatchObject([
    { handler: "bounce" },
    { handler: "bounces" },
    { handler: "search\nindex" },
  ]);
});

test("inbox plan gives stored events to a handler that has not had them, and names the handlers that there are", async () => {
  const app = await startReceiverApp();
  const operator = partsOf(app.receiver).options.store.openOperator(Date.now);
  await expect.poll(async () => (await operator.listHandlers()).length).toBe(4);
  await app.receive("email.bounced");
  const plan = (...args: string[]) => app.run("inbox", "plan", ...args);
  expect(await plan("bounces")).toEqual({ code: 0, stdout: "bounces  there are no events for it\n", stderr: "" });
  const store = partsOf(app.receiver).options.store;
  for (const id of ["old_1", "old_2"]) {
    const body = Buffer.from(JSON.stringify({ ...sampleEvent("email.bounced"), id }));
    const times = { receivedAt: Date.now() - 3_600_000, signedAt: Date.now() };
    await store.accept({ id, type: "email.bounced", test: false, body, ...times, work: [] });
  }
  expect((await plan("bounces", "--since", "30m", "--dry-run")).stdout).toBe("bounces  there are no events for it\n");
  expect((await plan("bounces", "--since", "2h", "--dry-run")).stdout).toBe("bounces  would get 2 events\n");
  const counts = { handler: "bounces", dryRun: false, events: 2, withoutBody: 0, hasReceiver: true };
  const planned = jsonLines(await plan("bounces", "--types", "email.bounced", "--json"));
  expect(planned).toMatchObject([{ ...counts, job: expect.any(String) as string }]);
  for (const id of ["old_1", "old_2"]) await untilWork(app.receiver, id, { attempts: 1 }, "bounces");
  expect(await operator.listJobs()).toMatchObject([{ action: "plan", by: "cli", state: "done", total: 2, done: 2 }]);
  const unknown = await plan("bounce");
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('had a handler "bounce". Known: bounces, all, blocklist, complaints.');
});

test("inbox errors gathers errors, and its groups choose work", async () => {
  const app = await startReceiverApp();
  const inbox = (...args: string[]) => app.run("inbox", ...args);
  expect((await inbox("errors")).stderr).toContain("No errors.");
  expect((await inbox("errors", "--since", "1700000000")).stderr).toContain("No errors.");
  const ids = [await app.receive("email.complained"), await app.receive("email.complained")];
  for (const id of ids) await untilWork(app.receiver, id, { state: "retrying", attempts: 1 }, "complaints");
  const [{ group } = expect.unreachable()] = jsonLines(await inbox("errors", "--json")) as { group: { id: string } }[];
  expect(group).toMatchObject({ handler: "complaints", type: "email.complained", events: 2 });
  const table = (await inbox("errors")).stdout;
  expect(table).toMatch(/FIRST +LAST +EVENTS +HANDLER +TYPE +ERROR +GROUP\n\S+Z +\S+Z +2 +complaints/);
  await untilWork(app.receiver, await app.receive("email.bounced"), { state: "dead" }, "bounces");
  expect(await inbox("errors", "--limit", "1")).toMatchObject({
    stdout: expect.stringMatching(/^.*\n.*\n$/),
    stderr: "There are more groups: raise --limit, or choose by --handler or --type.\n",
  });
  expect(await inbox("errors", "--limit", "100000")).toMatchObject({
    stdout: expect.stringMatching(/^.*\n.*\n.*\n$/),
    stderr: "",
  });
  const listed = await inbox("list", "--error-group", group.id, "--json");
  expect(jsonLines(listed)).toHaveLength(2);
  expect(jsonLines(await inbox("retry", "--error-group", group.id, "--json"))).toMatchObject([{ runNow: 2 }]);
});
