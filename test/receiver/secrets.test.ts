import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { ReceiverOptions } from "pigeonhole";
import { createReceiver } from "pigeonhole";
import { signDelivery } from "pigeonhole/testing";
import { openWithAlarms } from "../support/alarms.js";
import { type ReceivedAnswer, captureLog, makeEvent, openReceiver, post } from "../support/receiver.js";
import { errorOf } from "../support/error-of.js";
import type { SecretsOption } from "#pigeonhole/receiver/secret-source.js";

const secretOf = (letter: string): string => `whsec_${letter.repeat(43)}`;
const [A, B, C] = [secretOf("a"), secretOf("b"), secretOf("c")] as const;

/** A receiver with these secrets, and deliveries that are signed with one. */
function startWith(secrets: SecretsOption, options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
  const opened = openWithAlarms({ secrets, ...options });
  return { ...opened, deliver: (secret: string) => opened.deliver(undefined, { secret }) };
}

const older = (secretIndex: number) => ({ kind: "older_secret_matched", secretIndex, source: "" });

test.each<[string, SecretsOption, object[]]>([
  ["the one secret", B, []],
  ["the first of several", [B, A], []],
  ["the second of several", [A, B], [older(1)]],
  ["the last of several", [C, A, B], [older(2)]],
  ["one that a function returns", () => [B], []],
  ["the one that a function returns", () => B, []],
  ["one that an asynchronous function returns", () => Promise.resolve([B, A]), []],
])("a delivery is accepted when it is signed with %s, with an alarm for an older one", async (_, secrets, expected) => {
  const { receiver, deliver, alarms } = startWith(secrets);
  await receiver.start();
  expect(await deliver(B)).toBe("accepted");
  expect(await deliver(secretOf("x"))).toBe("unverified");
  expect(alarms).toEqual(expected);
});

describe("a rotation without a restart", () => {
  test("the first delivery with a new secret makes the receiver read the secrets again", async () => {
    let current = A;
    let reads = 0;
    const { receiver, deliver, clock, log } = startWith(() => ((reads += 1), [current]));
    await receiver.start();
    expect(reads).toBe(1);
    expect(await deliver(A)).toBe("accepted");
    current = B;
    await clock.advance(5_000);
    expect(await deliver(B)).toBe("accepted");
    expect(await deliver(A)).toBe("unverified");
    expect(reads).toBe(2);
    expect(log.named("secrets_changed")).toHaveLength(1);
  });

  test("the secrets are read again once in five seconds, however many forgeries come", async () => {
    let reads = 0;
    const { receiver, deliver, clock } = startWith(() => ((reads += 1), [A]));
    await receiver.start();
    const forge = async () => {
      const outcomes = await Promise.all(Array.from({ length: 50 }, () => deliver(B)));
      expect(new Set(outcomes)).toEqual(new Set(["unverified"]));
    };
    await clock.advance(4_999);
    await forge();
    expect(reads).toBe(1);
    await clock.advance(1);
    await forge();
    await forge();
    expect(reads).toBe(2);
    await clock.advance(5_000);
    await forge();
    expect(reads).toBe(3);
  });

  test.each<[string, Extract<SecretsOption, () => unknown>]>([
    ["rejects", () => Promise.reject(new Error(`cannot read ${B}`))],
    ["returns none", () => []],
    ["gives one secret to two sources", () => ({ acme: A, beta: A })],
  ])("the old secrets are kept when the function %s, and new ones are used later", async (_, broken) => {
    let read: typeof broken = () => [A];
    const { receiver, deliver, clock, log, alarms } = startWith(() => read());
    await receiver.start();
    read = broken;
    await clock.advance(5_000);
    expect(await deliver(B)).toBe("secrets_unavailable");
    expect(await deliver(B)).toBe("secrets_unavailable");
    expect(await deliver(A)).toBe("accepted");
    expect(alarms).toEqual([{ kind: "secrets_unavailable", reason: "failed" }]);
    expect(log.named("secrets_not_read")).toHaveLength(1);
    expect(JSON.stringify(log.lines)).not.toContain(B);
    read = () => [B];
    await clock.advance(5_000);
    expect(await deliver(B)).toBe("accepted");
  });
});

describe("a function of secrets that does not answer", () => {
  /** A started receiver whose function hangs at its second call and all later ones, until told. */
  async function startWithHanging(options: Partial<ReceiverOptions<Record<never, never>>> = {}) {
    const answers: ((secrets: string[]) => void)[] = [];
    let isFirst = true;
    const read = (): string[] | Promise<string[]> => {
      if (!isFirst) return new Promise<string[]>((resolve) => answers.push(resolve));
      isFirst = false;
      return [A];
    };
    const started = startWith(read, options);
    await started.receiver.start();
    await started.clock.advance(5_000);
    return { ...started, answers };
  }

  test.each(["retry", "reject"] as const)(
    "a delivery is answered 503 after 2 s if the secrets are not available, with unverified: %j",
    async (unverified) => {
      const { receiver, clock, log, alarms } = await startWithHanging({ unverified });
      let received: ReceivedAnswer | undefined;
      void post(receiver, makeEvent(), { secret: B }).then((answer) => (received = answer));
      await clock.advance(1_999);
      expect(received).toBeUndefined();
      await clock.advance(1);
      expect(received).toMatchObject({ status: 503, outcome: "secrets_unavailable" });
      expect(received?.headers.get("retry-after")).toBe("60");
      expect(log.named("secrets_late")).toEqual([expect.objectContaining({ level: 40 })]);
      expect(alarms).toEqual([{ kind: "secrets_unavailable", reason: "late" }]);
    },
  );

  test("a function of secrets that does not answer delays other deliveries by 2 s only once, and known secrets never", async () => {
    const { deliver, clock, answers, log } = await startWithHanging();
    const first = deliver(B);
    expect(await deliver(A)).toBe("accepted");
    await clock.advance(2_000);
    expect(await first).toBe("secrets_unavailable");
    await clock.advance(20_000);
    expect([await deliver(B), await deliver(C)]).toEqual(["secrets_unavailable", "secrets_unavailable"]);
    expect(answers).toHaveLength(1);
    expect(log.named("secrets_late")).toHaveLength(1);
  });

  test("forged deliveries that wait for the secrets take no place of others", async () => {
    const { deliver, clock } = await startWithHanging({ highWaterMark: 2 });
    const forged = [deliver(B), deliver(B), deliver(B)];
    await clock.advance(0);
    expect(await deliver(A)).toBe("accepted");
    await clock.advance(2_000);
    expect(await Promise.all(forged)).toEqual(Array.from(forged, () => "secrets_unavailable"));
  });

  test("a forged delivery that came slowly and waits for the secrets does not count as overdue", async () => {
    const { receiver, deliver, clock, answers } = await startWithHanging();
    let end = (): void => undefined;
    const body = new ReadableStream({ start: (sent) => void (end = () => sent.close()) });
    const headers = signDelivery({ body: "", secret: B, timestamp: clock.now() });
    const forged = receiver.fetch(
      new Request("http://pigeonhole.test/", { method: "POST", headers, body, duplex: "half" }),
    );
    await clock.advance(2_000);
    end();
    await expect.poll(() => answers).toHaveLength(1);
    await clock.advance(1_900);
    expect(await deliver(A)).toBe("accepted");
    await clock.advance(100);
    expect((await forged).headers.get("x-pigeonhole-outcome")).toBe("secrets_unavailable");
  });

  test("a function of secrets may answer late, and the next delivery is verified with its answer", async () => {
    const { deliver, clock, answers } = await startWithHanging();
    const first = deliver(B);
    await clock.advance(3_000);
    expect(await first).toBe("secrets_unavailable");
    answers[0]?.([B]);
    await clock.advance(0);
    expect(await deliver(B)).toBe("accepted");
    expect(await deliver(C)).toBe("unverified");
  });

  test("a function of secrets is called again after 30 s, and its first answer does not replace the second", async () => {
    const { deliver, clock, answers } = await startWithHanging();
    const first = deliver(B);
    await clock.advance(2_000);
    await first;
    await clock.advance(28_000);
    const second = [deliver(B), deliver(B)];
    await clock.advance(0);
    expect(answers).toHaveLength(2);
    answers[1]?.([B]);
    expect(await Promise.all(second)).toEqual(["accepted", "accepted"]);
    answers[0]?.([A]);
    await clock.advance(0);
    expect([await deliver(B), await deliver(A)]).toEqual(["accepted", "unverified"]);
  });

  test("a function of secrets that does not answer makes start() reject after 30 s, and the next start uses its late answer", async () => {
    let answer: (secrets: string[]) => void = () => undefined;
    let reads = 0;
    const { receiver, clock, deliver } = startWith(() => {
      reads += 1;
      return new Promise<string[]>((resolve) => (answer = resolve));
    });
    const error = errorOf(() => receiver.start());
    const early = deliver(A);
    await clock.advance(3_000);
    expect(await early).toBe("not_started");
    expect(receiver.state).toBe("starting");
    await clock.advance(27_000);
    expect((await error).code).toBe("wait_timeout");
    expect(receiver.state).toBe("new");
    answer([A]);
    await clock.advance(0);
    await receiver.start();
    expect(await deliver(A)).toBe("accepted");
    expect(reads).toBe(1);
  });

  test.each([0, 20])(
    "a function of secrets that does not answer does not delay stop() during start(), %i ms later",
    async (afterMs) => {
      const { receiver, deliver } = startWith(() => new Promise<string[]>(() => undefined));
      const started = receiver.start();
      const early = deliver(A);
      await wait(afterMs);
      await receiver.stop();
      await started;
      expect(receiver.state).toBe("stopped");
      expect(await early).toBe("stopping");
    },
  );
});

describe("start() with a function of secrets", () => {
  test.each<[string, () => string[] | Promise<string[]>, string | undefined]>([
    [
      "throws",
      () => {
        throw new Error("vault is down");
      },
      undefined,
    ],
    ["returns none", () => [], "invalid_secret"],
  ])("start() rejects if the function of secrets %s, and a later start works", async (_, broken, code) => {
    let read = broken;
    const { receiver, deliver } = startWith(() => read());
    const error = await errorOf(() => receiver.start());
    expect(error.code).toBe(code);
    if (code === undefined) expect(error.message).toBe("vault is down");
    expect(await deliver(A)).toBe("not_started");
    read = () => [A];
    await receiver.start();
    expect(await deliver(A)).toBe("accepted");
  });
});

test("the alarm signature_mismatches is raised with the third mismatch in a row", async () => {
  const { receiver, deliver, alarms } = startWith(A);
  await receiver.start();
  for (const secret of [B, B, A, B, B]) await deliver(secret);
  expect(alarms).toEqual([]);
  await deliver(B);
  expect(alarms).toEqual([{ kind: "signature_mismatches", inARow: 3 }]);
});

describe("createReceiver refuses", () => {
  const short = "whsec_Xq7";
  const refused: [string, unknown, RegExp][] = [
    ["no secret", [], /empty/],
    ["a number", 5, /list/],
    ["a short one", short, /too few/],
    ["an empty one after a good one", [A, ""], /secrets\[1\]/],
  ];

  test.each(refused)("createReceiver refuses %s", async (_, secrets, message) => {
    const error = await errorOf(() => createReceiver({ secrets: secrets as string, store: ":memory:" }));
    expect(error.code).toBe("invalid_secret");
    expect(error.message).toMatch(message);
    const texts = [secrets].flat().filter((text): text is string => typeof text === "string" && text.trim() !== "");
    for (const text of texts) {
      expect(error.message).not.toContain(text.trim());
      // Not even a part of it: no run of six of its characters.
      expect(error.message).not.toContain(text.trim().slice(-6));
    }
  });

  test("createReceiver accepts 24 characters without the prefix, and says that whsec_ is missing", () => {
    const log = captureLog();
    openReceiver({ secrets: "q".repeat(24), logger: log.logger });
    expect(log.named("secret_without_whsec_prefix")).toEqual([expect.objectContaining({ index: 0, level: 40 })]);
    expect(JSON.stringify(log.lines)).not.toContain("qqqqqq");
  });
});
