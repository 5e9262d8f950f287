import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { operate } from "../../support/operate.js";
import type { Store } from "#pigeonhole/store/store.js";
import { tempFile } from "../../support/store-in.js";
import { openFile } from "../open-file.js";
import { DAY, expectLease, newEvent, settlements, T } from "../conformance/new-event.js";
import { acceptLeased, leasePage } from "../conformance/lease-page.js";
import { newRecord, RESULTS, sendSettlements } from "../conformance/new-record.js";
import { takeSend } from "../conformance/outbox-fixture.js";

const EMAIL = "ann.particular@example.com";

/** From within a page to many overflow pages. */
const FILLS = [0, 100, 900, 1_500, 4_000, 40_000];

const textWith = (email: string, fill: number): string => JSON.stringify({ email, fill: "x".repeat(fill) });

/** Every place that has the address, among others that stay, moved from state to state as a receiver does. */
async function fill(store: Store): Promise<void> {
  for (const [place, size] of FILLS.flatMap((size) => [size, size, size]).entries()) {
    const body = Buffer.from(textWith(EMAIL, size));
    await store.accept(newEvent(`other_${place}`, { body: Buffer.from(textWith("b@example.com", size)) }));
    const work = [{ handler: `failing_${place}`, leaseUntil: T + DAY }];
    const failing = await acceptLeased(store, `failing_${place}`, { body, work });
    await store.saveStep(failing, "load", textWith(EMAIL, size), T);
    const error = `no answer for ${EMAIL} ${"y".repeat(place * 7)}`;
    // The third stack takes the place of the second one, whose pages it does not need.
    let lease = failing;
    for (const run of [1, 2, 3]) {
      const stack = `${error}\n${`    at ${EMAIL}\n`.repeat(run === 3 ? 0 : size / 30)}`;
      await store.settle({ ...settlements.pending(lease), error, stack });
      if (run === 3) break;
      const page = await leasePage(store, { handler: failing.handler, now: T + DAY, leaseUntil: T + 2 * DAY });
      lease = expectLease(page.work[0]);
    }
    const done = await acceptLeased(store, `done_${place}`, { body });
    await store.saveStep(done, "load", textWith(EMAIL, size), T);
    const records = [newRecord(`key_${place}`, { body: textWith(EMAIL, size % 3_000) })];
    await store.settle({ ...settlements.done(done), records, dropSteps: place % 2 === 0 });
    if (place % 3 === 0) continue;
    const send = await takeSend(store);
    const results = send.events.map(({ seq }) => RESULTS[place % 3 === 1 ? "done" : "dead"](seq));
    await store.settleSend(sendSettlements.settled(send, results));
  }
  const inbox = store.openOperator(Date.now);
  for (const size of FILLS) {
    const { id } = await inbox.createJob({ action: "discard", choice: { error: textWith(EMAIL, size) }, by: "bob" });
    await inbox.changeJob("cancel", id);
  }
}

test("no byte of an erased address is left in the file", async () => {
  const file = tempFile();
  const store = await openFile(file, { thread: false });
  await store.recover(T);
  await fill(store);
  const counts = await operate(store).erase({ email: EMAIL });
  expect(counts).toMatchObject({
    events: 36,
    work: 18,
    eventsLeft: 0,
    contactEvents: 18,
    contactEventsLeft: 0,
    jobs: 6,
  });
  // The last connection writes the WAL into the database and removes it.
  await store.close();
  const bytes = readFileSync(file);
  expect(bytes.includes("b@example.com")).toBe(true);
  expect(bytes.includes(EMAIL)).toBe(false);
  expect(bytes.includes("ann.particular")).toBe(false);
});
