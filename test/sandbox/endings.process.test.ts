import { createClient } from "pigeonhole/client";
import { describe, expect, test } from "vitest";
import {
  type ProbeAnswer,
  MINUTE,
  fire,
  openEndpoint,
  openOnClock,
  openProbe,
  openProbed,
  openSandbox,
  verdictOf,
} from "./support.js";
import { refusalOf } from "../support/error-of.js";

const STOPPED = { code: "stopped" };
const url = "http://127.0.0.1/hook";

/** An in-process receiver that answers when it is told to. */
function openGate() {
  const waiting: ((status: number) => void)[] = [];
  const receive = (): Promise<Response> =>
    new Promise((resolve) => void waiting.push((status) => resolve(new Response(null, { status }))));
  return { receive, answer: (status: number) => waiting.shift()?.(status), waiting };
}

describe("a closed sandbox", () => {
  test("a closed sandbox ends every wait for a contact event", async () => {
    const sandbox = openSandbox({ clock: "real" });
    const waiting = refusalOf(() => sandbox.waitForContactEvent({ name: "never" }));
    await sandbox.close();
    expect(await waiting).toEqual(STOPPED);
    expect(await refusalOf(() => sandbox.waitForContactEvent({ name: "never" }))).toEqual(STOPPED);
    expect(await refusalOf(() => sandbox.waitFor({ type: "email.sent" }))).toEqual(STOPPED);
  });

  test("a closed sandbox sends no event, no test and no replay", async () => {
    const { sandbox, id, answers } = openEndpoint({ status: 404 });
    await fire(sandbox);
    const [row] = sandbox.deliveries();
    await sandbox.close();
    expect(await refusalOf(() => sandbox.emit("email.sent"))).toEqual(STOPPED);
    expect(await refusalOf(() => sandbox.endpoints.test(id))).toEqual(STOPPED);
    expect(await refusalOf(() => sandbox.endpoints.replay(id, row?.id ?? ""))).toEqual(STOPPED);
    expect(answers.posts).toBe(1);
  });

  test("a closed sandbox does not listen, even if it was closed while it started to", async () => {
    const sandbox = openSandbox();
    const listening = refusalOf(() => sandbox.listen());
    await sandbox.close();
    expect(await listening).toEqual(STOPPED);
    expect(await refusalOf(() => sandbox.listen())).toEqual(STOPPED);
    await sandbox.close();
  });

  test("a closed sandbox has used one port, even if listen was called several times at once", async () => {
    const sandbox = openSandbox();
    const asked = await Promise.allSettled([sandbox.listen(), sandbox.listen()]);
    expect(asked.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  });

  test("a closed sandbox may listen again after its port was taken", async () => {
    const { port } = await openSandbox().listen();
    const sandbox = openSandbox();
    expect(await refusalOf(() => sandbox.listen({ port }))).toEqual({ code: "port_in_use" });
    expect((await sandbox.listen()).port).not.toBe(port);
  });

  // It counts what the whole process has open, so no other file may share it.
  test("a closed sandbox leaves no server and no connection, even after forty runs", async () => {
    // One never answers, one is retried, one arrives: something is open at every stage.
    const answers: readonly ProbeAnswer[] = ["nothing", 503, 200];
    const probe = await openProbe((_, index) => answers[index % 3] ?? 200);
    const count = (): number => process.getActiveResourcesInfo().filter((kind) => /^TCP|^Connect/.test(kind)).length;
    await expect.poll(count).toBeLessThan(10);
    const before = count();
    for (let round = 0; round < 40; round += 1) {
      const sandbox = openSandbox({ clock: "real" });
      await sandbox.listen();
      sandbox.endpoints.create({ url: probe.url });
      for (let index = 0; index < 3; index += 1) sandbox.emit("email.sent");
      const waiting = refusalOf(() => sandbox.waitFor({ answered: 418 }));
      if (round % 2 === 0) await sandbox.waitFor();
      await sandbox.close();
      expect([await waiting, sandbox.openDeliveries]).toEqual([STOPPED, 0]);
    }
    // The probe is told of the broken connections a little later.
    await expect.poll(count).toBeLessThanOrEqual(before);
  });
});

describe("changes in the middle of an attempt", () => {
  test("an endpoint deleted during an attempt gets no log entry and no retry, and its test is answered with null", async () => {
    const { receive, answer, waiting } = openGate();
    const { sandbox } = openOnClock({ receive, limits: { attemptsAtOnce: 2 } });
    const { id } = sandbox.endpoints.create({ url });
    sandbox.emit("email.sent");
    const client = createClient(sandbox.clientOptions);
    const tested = client.webhooks.test(id);
    await expect.poll(() => waiting.length).toBe(2);
    sandbox.endpoints.delete(id);
    answer(503);
    answer(503);
    expect(await tested).toMatchObject({ delivery: null });
    expect([sandbox.deliveries(), sandbox.openDeliveries, sandbox.plannedAttempts]).toEqual([[], 0, []]);
  });

  test("a reset during an attempt drops the later answer", async () => {
    const { receive, answer } = openGate();
    const { sandbox } = openOnClock({ receive });
    const { id } = sandbox.endpoints.create({ url });
    sandbox.emit("email.sent");
    sandbox.reset({ keepEndpoints: true });
    answer(503);
    await sandbox.settle();
    expect([sandbox.deliveries(), sandbox.openDeliveries]).toEqual([[], 0]);
    expect(sandbox.endpoints.get(id).consecutiveFailures).toBe(0);
  });

  test("an endpoint disabled during an attempt has the answer in its log and gets no retry", async () => {
    const { receive, answer } = openGate();
    const { sandbox } = openOnClock({ receive });
    const { id } = sandbox.endpoints.create({ url });
    sandbox.emit("email.sent");
    sandbox.endpoints.update(id, { enabled: false });
    answer(503);
    await sandbox.settle();
    expect(sandbox.deliveries()).toMatchObject([{ responseCode: 503, nextAttemptAt: null }]);
    expect(sandbox.openDeliveries).toBe(0);
  });

  test("a secret rotated during an attempt is used for a delayed attempt and every retry", async () => {
    const { sandbox, clock, probe, id, secret } = await openProbed((_, index) => (index === 0 ? 503 : 200));
    sandbox.faults.deliveries.add({ fault: { kind: "delay", delayMs: MINUTE }, attempt: 1 });
    sandbox.emit("email.sent");
    const rotated = sandbox.endpoints.rotateSecret(id);
    await sandbox.advance(MINUTE);
    await sandbox.advanceToNextAttempt();
    const accepts = (key: string) => probe.got.map((got) => verdictOf(got, key, clock.now()).ok);
    expect([accepts(secret), accepts(rotated.secret)]).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});

describe("a replay", () => {
  test("a replay sends the original bytes, even if the event's object has changed, and does not change the retries", async () => {
    const { sandbox, probe, id } = await openProbed((_, index) => (index < 2 ? 503 : 200));
    const data = { tags: { order: "1" } };
    sandbox.emit("email.sent", data);
    await sandbox.settle();
    data.tags.order = "2";
    const [row] = sandbox.deliveries();
    expect(await sandbox.endpoints.replay(id, row?.id ?? "")).toMatchObject({ kind: "replay", attempt: 1 });
    expect(sandbox.plannedAttempts[0]?.dueAtMs).toBe(Date.parse(row?.nextAttemptAt ?? ""));
    await sandbox.advance("2m");
    expect(sandbox.deliveries().map(({ kind, attempt }) => `${kind} ${attempt}`)).toEqual([
      "event 1",
      "replay 1",
      "event 2",
    ]);
    expect(new Set(probe.got.map(({ body }) => body)).size).toBe(1);
  });
});

describe("input that cannot be sent", () => {
  test("a URL with a password reaches a receiver in process as it does over HTTP", async () => {
    const seen: (string | null)[] = [];
    const { sandbox } = openOnClock({
      receive({ headers, url: asked }) {
        seen.push(headers.get("authorization"), asked);
        return new Response();
      },
    });
    sandbox.endpoints.create({ url: "http://ada:p%40ss@127.0.0.1/hook" });
    const probe = await openProbe();
    const over = openOnClock().sandbox;
    over.endpoints.create({ url: probe.url.replace("//", "//ada:p%40ss@") });
    for (const each of [sandbox, over]) {
      each.emit("email.sent");
      await each.settle();
      expect(each.deliveries()).toMatchObject([{ status: "delivered" }]);
    }
    expect(seen).toEqual([probe.got[0]?.headers["authorization"], url]);
  });

  test.each([
    [{ assumptions: { signature: { signatureHeader: "a b" } } }],
    [{ assumptions: { signature: { encodings: [] } } }],
    [{ limits: { maxEndpoints: Number.NaN } }],
    [{ limits: { maxEndpoint: 5 } as never }],
    [{ receive: 5 as never }],
    [{ domains: "acme.example.com" as never }],
  ])("an option such as %j is refused", async (options) => {
    expect(await refusalOf(() => openSandbox(options))).toEqual({ code: "invalid_option" });
  });

  test("a wait without end is refused", async () => {
    const { sandbox } = openOnClock();
    const endless = { timeoutMs: Number.NaN };
    expect(await refusalOf(() => sandbox.waitFor(endless))).toEqual({ code: "invalid_argument" });
    expect(await refusalOf(() => sandbox.waitForContactEvent(endless))).toEqual({ code: "invalid_argument" });
  });
});
