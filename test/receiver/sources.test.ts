import type { Alarm, HandlerContext, ReceiverOptions } from "pigeonhole";
import { createReceiver } from "pigeonhole";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { HOUR } from "#pigeonhole/base/duration.js";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";
import type { SecretsOption } from "#pigeonhole/receiver/secret-source.js";
import { errorOf } from "../support/error-of.js";
import { makeEvent, makeGate, openReceiver, post, storeIn, tempFile, untilWork } from "../support/receiver.js";
import { startReceiver } from "../support/start-receiver.js";

const secretOf = (letter: string): string => `whsec_${letter.repeat(43)}`;
const [A, B, C] = [secretOf("a"), secretOf("b"), secretOf("c")] as const;
const TWO = { acme: A, beta: B };

/** A started receiver that notes what it handled, as the source, the id and the data's `n`. */
async function start(secrets: SecretsOption, options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const handled: unknown[] = [];
  const contexts: Pick<HandlerContext, "delivery" | "idempotencyKey">[] = [];
  const alarms: Alarm[] = [];
  const receiver = openReceiver({ secrets, onAlarm: (alarm) => alarms.push(alarm), ...options });
  receiver.on(
    "email.sent",
    ({ id, data }, ctx) => {
      handled.push([ctx.delivery.source, id, data["n"]]);
      contexts.push(ctx);
    },
    { name: "h" },
  );
  await receiver.start();
  const send = async (secret: string, event: object) => (await post(receiver, event, { secret })).outcome;
  return { receiver, handled, contexts, alarms, send };
}

describe("an id is unique per source", () => {
  test("the owner of one workspace cannot take an id before another one's event has it", async () => {
    const { receiver, handled, send } = await start(TWO);
    const event = (n: number) => makeEvent({ id: "evt_same", data: { n } });
    // Each is genuine: it is signed with the secret of the workspace that sends it.
    expect(await send(B, event(1))).toBe("accepted");
    expect(await send(B, { ...event(1), id: "acme/evt_same" })).toBe("accepted");
    expect(await send(A, event(2))).toBe("accepted");
    expect(await send(A, event(2))).toBe("duplicate");
    for (const secret of [A, B]) expect(await send(secret, Buffer.from("no JSON"))).toBe("parked");
    await untilWork(receiver, "acme/evt_same", { state: "done" }, "h");
    await untilWork(receiver, "beta/acme/evt_same", { state: "done" }, "h");
    expect(handled).toEqual([
      ["beta", "evt_same", 1],
      ["beta", "acme/evt_same", 1],
      ["acme", "evt_same", 2],
    ]);
    expect((await receiver.inbox.list()).items.map(({ id, source }) => [id, source])).toEqual([
      [expect.stringMatching(/^beta\/raw:[0-9a-f]{64}$/), "beta"],
      [expect.stringMatching(/^acme\/raw:[0-9a-f]{64}$/), "acme"],
      ["acme/evt_same", "acme"],
      ["beta/acme/evt_same", "beta"],
      ["beta/evt_same", "beta"],
    ]);
  });

  test("other bytes of an id raise the alarm for the event of their own source", async () => {
    const { alarms, send } = await start(TWO);
    const event = makeEvent({ id: "evt_bytes" });
    await send(A, event);
    await send(B, { ...event, data: { n: 1 } });
    expect(alarms).toEqual([]);
    expect(await send(B, { ...event, data: { n: 2 } })).toBe("duplicate");
    expect(alarms).toEqual([{ kind: "other_bytes", eventId: "beta/evt_bytes" }]);
  });

  test("keys that are derived for calls, and work of one key, are not those of another source", async () => {
    const { receiver, contexts, send } = await start(TWO);
    await send(A, makeEvent({ id: "evt_key" }));
    await send(B, makeEvent({ id: "evt_key" }));
    for (const id of ["acme/evt_key", "beta/evt_key"]) await untilWork(receiver, id, { state: "done" }, "h");
    expect(new Set(contexts.map((ctx) => ctx.idempotencyKey("welcome"))).size).toBe(2);
    expect(contexts.map(({ delivery }) => delivery.inboxId)).toEqual(["acme/evt_key", "beta/evt_key"]);
  });

  test("work of one key runs beside work of the same key of another source", async () => {
    const receiver = openReceiver({ secrets: TWO });
    const [gate, begun] = [makeGate(), [] as string[]];
    receiver.on("email.sent", (_, { delivery }) => (begun.push(delivery.inboxId), gate.passed), {
      name: "h",
      key: () => "ada@example.com",
    });
    await receiver.start();
    for (const [secret, id] of [
      [A, "evt_1"],
      [A, "evt_2"],
      [B, "evt_1"],
    ] as const) {
      await post(receiver, makeEvent({ id }), { secret });
    }
    await expect.poll(() => begun).toEqual(["acme/evt_1", "beta/evt_1"]);
    expect((await receiver.stats()).waitsFor).toEqual({ h: "key" });
    gate.open();
    await untilWork(receiver, "acme/evt_2", { state: "done" }, "h");
  });
});

describe("an event of a named source", () => {
  test("is found by its id in the inbox, and read by the service's id too: the newest", async () => {
    const { receiver, send } = await start(TWO);
    await send(B, makeEvent({ id: "evt_found", data: { n: 1 } }));
    await send(A, makeEvent({ id: "evt_found", data: { n: 2 } }));
    await untilWork(receiver, "acme/evt_found", { state: "done" }, "h");
    await untilWork(receiver, "beta/evt_found", { state: "done" }, "h");
    expect(await receiver.inbox.get("evt_found")).toMatchObject({ id: "acme/evt_found" });
    expect(await receiver.inbox.get("beta/evt_found")).toMatchObject({ id: "beta/evt_found" });
    expect(await receiver.inbox.get("vt_found")).toBeUndefined();
    expect(await receiver.inbox.retry("beta/evt_found")).toEqual({ pending: 0, parked: undefined });
    // What is changed has to be named in full.
    for (const change of ["retry", "discard", "runNow"] as const) {
      expect((await errorOf(() => receiver.inbox[change]("evt_found"))).code).toBe("not_found");
    }
  });

  test("gets the same answer as any other: its source is not named", async () => {
    const event = makeEvent();
    const answers = await Promise.all(
      [A, TWO].map(async (secrets) => {
        const { receiver } = await start(secrets);
        const taken = await post(receiver, event, { secret: A });
        const refused = await post(receiver, event, { secret: C });
        return [taken, refused].map(({ status, headers, text }) => ({ status, headers: [...headers], text }));
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
  });
});

describe("secrets with names", () => {
  test("during a rotation, both secrets of a source are of that source", async () => {
    const { handled, alarms, receiver, send } = await start({ acme: A, beta: [C, B] });
    await send(A, makeEvent({ id: "evt_a" }));
    await send(C, makeEvent({ id: "evt_c" }));
    expect(alarms).toEqual([]);
    await send(B, makeEvent({ id: "evt_b" }));
    expect(await send(B, makeEvent({ id: "evt_c" }))).toBe("duplicate");
    for (const id of ["acme/evt_a", "beta/evt_c", "beta/evt_b"]) {
      await untilWork(receiver, id, { state: "done" }, "h");
    }
    expect(handled.map((each) => (each as string[])[0])).toEqual(["acme", "beta", "beta"]);
    expect(alarms).toContainEqual({ kind: "older_secret_matched", secretIndex: 1, source: "beta" });
  });

  test("the source without a name stands beside others, so that a second workspace changes no id of the first", async () => {
    const file = tempFile();
    const before = await start(A, { store: storeIn(file) });
    await before.send(A, makeEvent({ id: "evt_first" }));
    await before.receiver.stop();
    const after = await start({ "": A, beta: B }, { store: storeIn(file) });
    expect(await after.send(A, makeEvent({ id: "evt_first" }))).toBe("duplicate");
    expect(await after.send(B, makeEvent({ id: "evt_first" }))).toBe("accepted");
    const [ofBeta, plain] = (await after.receiver.inbox.list()).items;
    expect([ofBeta?.id, plain?.id]).toEqual(["beta/evt_first", "evt_first"]);
    expect((await after.receiver.inbox.list({ source: "" })).items.map(({ id }) => id)).toEqual(["evt_first"]);
  });

  test("a function that knows a new source is asked when nothing fits", async () => {
    const clock = fakeClock();
    let secrets: Record<string, string> = { acme: A };
    const receiver = await startReceiver({ secrets: () => secrets, clock });
    secrets = { ...secrets, beta: B };
    await clock.advance(5_000);
    expect((await post(receiver, makeEvent({ id: "evt_new" }), { secret: B })).outcome).toBe("accepted");
    expect((await receiver.inbox.list({ source: "beta" })).items).toMatchObject([{ id: "beta/evt_new" }]);
  });

  test.each<[string, unknown, string]>([
    ["no source", {}, "secrets is empty"],
    ["a source without a secret", { acme: [] }, 'secrets["acme"] is empty'],
    ["a source whose variable is not set", { acme: undefined }, 'secrets["acme"] must be a list'],
    ["a second secret that is cut", { acme: [A, "whsec_cut"] }, 'secrets["acme"][1] has'],
    ["one secret of two sources", { acme: [A, B], beta: B }, '"acme" and "beta" have the same secret'],
    ["a name with a slash", { "a/b": A }, "The names in secrets must"],
    ["a secret as a name", { [A]: "acme" }, "The names in secrets must"],
  ])("are refused at creation and by a function: %s", async (_, secrets, text) => {
    const given = secrets as Record<string, string>;
    const atOnce = await errorOf(() => createReceiver({ secrets: given, store: ":memory:" }));
    const read = await errorOf(() => openReceiver({ secrets: () => given }).start());
    for (const error of [atOnce, read]) {
      expect(error.code).toBe("invalid_secret");
      expect(error.message).toContain(text);
      for (const secret of [A, B]) expect(error.message).not.toContain(secret);
    }
  });

  test("a secret that is wrong raises the alarm also while deliveries of other sources match", async () => {
    let quietMs = 0;
    const machine = fakeClock();
    const clock = { ...machine, elapsed: () => machine.elapsedMs + quietMs };
    const { alarms, receiver } = await start(TWO, { clock });
    const send = (secret: string) => post(receiver, makeEvent(), { secret });
    const { alarms: raised } = partsOf(receiver).path.report;
    for (const secret of [C, A, C, A]) await send(secret);
    expect(alarms).toEqual([]);
    await send(C);
    expect(alarms).toEqual([{ kind: "signature_mismatches", inARow: 3 }]);
    await send(A);
    expect(raised.recent).toHaveLength(1);
    await send(B);
    expect(raised.recent).toEqual([]);
    // A source that has no deliveries does not keep the alarm up.
    for (const secret of [C, C, C]) await send(secret);
    quietMs = 12 * HOUR;
    await send(A);
    expect(raised.recent).toHaveLength(1);
    quietMs += 1;
    await send(A);
    expect(raised.recent).toEqual([]);
  });
});
