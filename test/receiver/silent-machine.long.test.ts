import { expect, test } from "vitest";
import { startPostgresRelay } from "../support/postgres-relay.js";
import { describeOnPostgres } from "../support/postgres-server.js";
import { makeEvent, makeGate, post } from "../support/receiver.js";
import { createNode, dropAfterTest } from "./shared-nodes.js";

/** A lease of 60 s, and the time that the other process leaves to one which may come back. */
const WITHIN_MS = 90_000;

describeOnPostgres((database) => {
  test("the work of a machine that has fallen silent runs on another within 90 s", async () => {
    dropAfterTest(database);
    const relay = await startPostgresRelay(database.url);
    const [silent, other] = [createNode({ url: relay.url, schema: database.schema }), createNode(database)];
    const [begun, again, inCommit, committed] = [makeGate(), makeGate(), makeGate(), makeGate()];
    const unanswered = makeGate();
    silent.on("email.sent", () => {
      begun.open();
      return unanswered.passed;
    });
    silent.on("email.opened", (_, { commit }) =>
      commit(() => {
        inCommit.open();
        return unanswered.passed;
      }),
    );
    other.on("email.sent", () => again.open());
    other.on("email.opened", (_, { commit }) => commit(() => Promise.resolve(committed.open())));
    await silent.start();
    await post(silent, makeEvent());
    await post(silent, makeEvent({ type: "email.opened" }));
    await begun.passed;
    await inCommit.passed;
    await other.start();
    relay.fault = { at: "silence" };
    const since = performance.now();
    await Promise.all([again.passed, committed.passed]);
    expect(performance.now() - since).toBeLessThan(WITHIN_MS);
    console.info(`silent-machine: ${Math.round((performance.now() - since) / 1_000)} s`);
    await expect.poll(async () => (await other.stats()).done).toBe(2);
    unanswered.open();
    relay.cut();
  });
});
