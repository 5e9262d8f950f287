import { expect, onTestFinished, test } from "vitest";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { makeEvent, tempFile } from "../support/receiver.js";
import { startHandler } from "./one-handler.js";

test("a handler that is held by RetryAfter is held after SIGKILL, until a person runs its event", async () => {
  const file = tempFile();
  const [first, second] = [makeEvent(), makeEvent()];
  const start = (event: object, isBusy: boolean) => startHandler("wait", { place: { file }, events: [event], isBusy });
  const inbox = async () => {
    const opened = await openInbox(file);
    onTestFinished(() => opened.close());
    return opened;
  };

  const before = start(first, true);
  await before.line("held");
  expect(before.lines.map(({ msg }) => msg)).toEqual([`ran ${first.id}`, "held"]);
  const work = async () => (await (await inbox()).getEvent(first.id))?.handlers;
  await expect.poll(work).toMatchObject([{ state: "pending", waitsFor: "retry_after" }]);
  before.signal("SIGKILL");
  await before.ended;

  const after = start(second, false);
  await after.line("held");
  expect(after.lines.map(({ msg }) => msg)).toEqual(["held"]);
  await (await inbox()).changeEvent("run", first.id);
  for (const { id } of [first, second]) expect(await after.line(`ran ${id}`)).toBeDefined();
});
