import { expect, test } from "vitest";
import { dropAfterTest } from "../receiver/shared-nodes.js";
import { busiestSpan } from "../support/busiest-span.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent } from "../support/receiver.js";
import { startHandler } from "./one-handler.js";

describeOnPostgres((database) => {
  test.each([
    { runs: 20, events: 80 },
    { runs: 300, events: 900 },
  ])("of two processes with a rate of $runs runs a second, no second has more than a tenth more", async (given) => {
    dropAfterTest(database);
    const { url, schema } = database;
    const processes = [0, 1].map(() => {
      const events = Array.from({ length: given.events / 2 }, () => makeEvent());
      return startHandler("rate", { place: { url, schema }, events, rate: { runs: given.runs, per: "1s" } });
    });
    const begun = () => processes.map(({ lines }) => lines.map((line) => Number(line["at"])));
    await expect.poll(() => begun().flat().length).toBe(given.events);
    expect(busiestSpan(begun().flat(), 1_000)).toBeLessThanOrEqual(given.runs * 1.1);
    expect(Math.min(...begun().map((times) => times.length))).toBeGreaterThan(given.events / 10);
  });
});
