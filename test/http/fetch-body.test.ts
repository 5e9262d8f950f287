import { expect, test } from "vitest";
import { createFetch } from "#pigeonhole/http/fetch-mount.js";
import { createManualClock as fakeClock } from "#pigeonhole/base/manual-clock.js";
import { createProbe, LIMIT } from "../support/probe.js";

const url = "https://hooks.example.com/hooks";

function streamOf(...chunks: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
}

function post(body: ReadableStream<Uint8Array> | string, headers: Record<string, string> = {}): Request {
  return new Request(url, { method: "POST", body, headers, duplex: "half" });
}

test.each<[string, ReadableStream<Uint8Array> | string, string]>([
  ["of one chunk", streamOf("abc"), "abc"],
  ["of several chunks", streamOf("ab", "", "cd", "e"), "abcde"],
  ["of no chunk", streamOf(), ""],
  ["that is text", "héllo", "héllo"],
])("a body %s is accepted whole, and no timer is left", async (_, body, text) => {
  const clock = fakeClock();
  const probe = await createProbe({ clock });
  const response = await createFetch(probe.handle)(post(body));
  expect([response.status, response.headers.get("x-pigeonhole-outcome")]).toEqual([200, "parked"]);
  expect(probe.received[0]?.body.toString()).toBe(text);
  expect(clock.pendingTimers).toBe(0);
});

async function readAndLetGo(request: Request): Promise<void> {
  const reader = request.body?.getReader();
  await reader?.read();
  reader?.releaseLock();
}

test.each<[string, (request: Request) => unknown]>([
  ["that was read", (request) => request.text()],
  ["that was read and let go", readAndLetGo],
  ["that has a reader", (request) => request.body?.getReader()],
])("a body %s is answered 503", async (_, spoil) => {
  const probe = await createProbe();
  const request = post("{}");
  await spoil(request);
  const response = await createFetch(probe.handle)(request);
  expect([response.status, await response.text()]).toEqual([503, "body_consumed"]);
  expect(probe.outcomes).toEqual(["body_consumed"]);
});

test("a body that announces too many bytes is answered 413 and not read", async () => {
  const request = post(streamOf("{}"), { "content-length": String(LIMIT + 1) });
  expect((await createFetch((await createProbe()).handle)(request)).status).toBe(413);
  expect(request.bodyUsed).toBe(false);
});

test("a body that exceeds the limit is answered 413, and its rest is not read", async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(LIMIT / 2)),
    cancel() {
      cancelled = true;
    },
  });
  const request = post(endless);
  expect((await createFetch((await createProbe()).handle)(request)).status).toBe(413);
  expect([cancelled, request.body?.locked]).toEqual([false, false]);
});
