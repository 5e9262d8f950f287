import { describe, expect, test } from "vitest";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { readInboxFile } from "../support/inbox-file.js";
import { NEW_TYPE, parkEvents, startNextVersion } from "../support/parked-events.js";
import { tempFile } from "../support/receiver.js";
import { jsonLines, runCli } from "../support/run-cli.js";

/** Ids of the events for which a handler took effect, in no order. */
const effectsOf = (file: string): string[] =>
  readInboxFile(file)
    .effects.map(({ id }) => id)
    .toSorted();

/** Reason and error of the note of an event that is parked. */
async function noteOf(file: string, id: string): Promise<unknown> {
  const inbox = await openInbox(file);
  try {
    return (await inbox.getEvent(id))?.handlers.find(({ handler }) => handler === "");
  } finally {
    await inbox.close();
  }
}

const THREE = [
  { id: "evt_new", type: NEW_TYPE },
  { id: "evt_data", data: { subject: "it fits now" } },
  { id: "evt_bad", data: { subject: 7 } },
];

describe("inbox retry of parked events", () => {
  test("the running receiver reads parked events again with its schemas and handlers, each once", async () => {
    const file = tempFile();
    await parkEvents(file, THREE);
    const app = await startNextVersion(file, [NEW_TYPE, "email.sent"]);
    const { code, stdout } = await runCli(["inbox", "retry", "--state", "parked", "--db", file]);
    expect([code, stdout]).toEqual([0, "3 parked events will be read again by the running receiver\n"]);
    await expect.poll(() => effectsOf(file)).toEqual(["evt_data", "evt_new"]);
    expect(await app.line("parked_events_read_again")).toMatchObject({ events: 3, pending: 2, stillParked: 1 });
    expect(await noteOf(file, "evt_bad")).toMatchObject({
      reason: "bad_data",
      error: expect.stringContaining("subject") as string,
      retryRequestedAt: null,
    });

    await runCli(["inbox", "retry", "--state", "parked", "--db", file]);
    await expect.poll(() => noteOf(file, "evt_bad")).toMatchObject({ retryRequestedAt: null });
    expect(effectsOf(file)).toEqual(["evt_data", "evt_new"]);
  });

  test("of two processes the one that runs the handlers reads, and the other one after its death, each event once", async () => {
    const file = tempFile();
    const ids = Array.from({ length: 150 }, (_, index) => `evt_${index + 1}`);
    await parkEvents(
      file,
      ids.map((id) => ({ id })),
    );
    const first = await startNextVersion(file, ["email.sent"], { stepMs: 20 });
    const second = await startNextVersion(file, ["email.sent"], { stepMs: 20 });
    expect(jsonLines(await runCli(["inbox", "retry", "--state", "parked", "--db", file, "--json"]))).toMatchObject([
      { events: 150, work: 0, readAgain: 150, hasReceiver: true },
    ]);
    await expect.poll(() => effectsOf(file).length).toBeGreaterThan(5);
    expect(readInboxFile(file).effects.every(({ pid }) => pid === first.pid)).toBe(true);
    first.signal("SIGKILL");
    await first.ended;
    await expect.poll(() => readInboxFile(file).work).toEqual([]);
    expect(effectsOf(file)).toEqual(ids.toSorted());
    expect(readInboxFile(file).effects.some(({ pid }) => pid === second.pid)).toBe(true);
  });
});

test("inbox list says beside a parked event why it is parked", async () => {
  const file = tempFile();
  await parkEvents(file, [{ id: "evt_new", type: NEW_TYPE }]);
  const { stdout } = await runCli(["inbox", "list", "--db", file]);
  expect(stdout).toMatch(/ parked .* evt_new +\(unknown_type\) unhandled:done$/m);
});

test("inbox retry and discard of chosen work print a total", async () => {
  const file = tempFile();
  await parkEvents(file, THREE);
  const inbox = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(["inbox", ...args, "--db", file]);
    return [code, stdout + stderr];
  };
  const nothing = [0, "No such work is dead or parked, or waits for its next run.\n"];
  const one = [0, "1 parked event will be read again at the next start\n"];
  expect(await inbox("retry", "--state", "dead")).toEqual(nothing);
  expect(await inbox("retry", "--state", "parked", "--type", NEW_TYPE, "--since", "1h")).toEqual(one);
  const discard = ["discard", "--state", "parked", "--error", "bad_data"];
  const question = expect.stringContaining("End 2 pieces of work of 2 events without running it?") as string;
  expect(await inbox(...discard)).toEqual([2, question]);
  expect(await inbox(...discard, "--yes")).toEqual([0, "2 pieces of work of 2 events ended\n"]);
  expect(await inbox("retry", "--state", "parked")).toEqual(one);
});
