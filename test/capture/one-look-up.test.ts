import dns from "node:dns";
import dnsPromises from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { expect, onTestFinished, test } from "vitest";
import { createLocalLookUp, NOT_LOCAL } from "#pigeonhole/capture/send/local-address.js";
import { replayCaptures } from "#pigeonhole/capture/replay/replay-captures.js";
import { TEST_SECRET } from "pigeonhole/testing";
import { makeCapture, NOW, serveAnswers } from "../support/captures.js";

/** The machine's resolver knows one more name, whose answer is another one at each question. */
function answerInTurn(name: string, answers: readonly string[]): { asked: number } {
  const count = { asked: 0 };
  const next = (): dns.LookupAddress => ({ address: answers[count.asked++] ?? "203.0.113.9", family: 4 });
  const { lookup } = dns;
  const lookupPromise = dnsPromises.lookup;
  const real = {
    callback: lookup as (...args: unknown[]) => void,
    promise: lookupPromise as (...args: unknown[]) => unknown,
  };
  const fake = (host: string, options: unknown, done: (...args: unknown[]) => void): void => {
    if (host === name) setImmediate(done, null, [next()]);
    else real.callback(host, options, done);
  };
  const fakePromise = (host: string, options: unknown): unknown =>
    host === name ? Promise.resolve([next()]) : real.promise(host, options);
  Object.assign(dns, { lookup: fake });
  Object.assign(dnsPromises, { lookup: fakePromise });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(dns, { lookup });
    Object.assign(dnsPromises, { lookup: lookupPromise });
    syncBuiltinESMExports();
  });
  return count;
}

test("a replay connects to the address that was checked, even if the name resolves to another one by then", async () => {
  const count = answerInTurn("rebound.test", ["127.0.0.1"]);
  const app = await serveAnswers();
  const target = app.url.replace("127.0.0.1", "rebound.test");
  const report = await replayCaptures({ captures: [makeCapture({ at: NOW })], secret: TEST_SECRET, target, times: 3 });
  expect(report.attempts.map(({ attempt, failure }) => [attempt.status, failure])).toEqual(
    Array.from({ length: 3 }, () => [200, null]),
  );
  expect(count.asked).toBe(1);
});

test("a name that resolved to an outside address is refused, and resolved again at the next try", async () => {
  const count = answerInTurn("moving.test", ["203.0.113.9", "127.0.0.1"]);
  const lookUp = createLocalLookUp();
  const ask = () =>
    new Promise((resolve) => lookUp("moving.test", {}, (error, address) => resolve(error?.code ?? address)));
  expect([await ask(), await ask(), await ask()]).toEqual([NOT_LOCAL, "127.0.0.1", "127.0.0.1"]);
  expect(count.asked).toBe(2);
});
