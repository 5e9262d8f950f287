import { expect, onTestFinished, test, vi } from "vitest";
import { createFetchDashboard } from "#pigeonhole/dashboard/fetch-dashboard.js";
import { MAX_ACTION_BYTES } from "#pigeonhole/dashboard/dashboard-request.js";
import { BODY_TIMEOUT_MS } from "#pigeonhole/web/read-fields.js";
import type { PageApiError } from "#pigeonhole/web/page-api-error.js";
import type { StreamSink } from "#pigeonhole/web/web-answer.js";

const URL_OF_PAGE = "https://ops.example/api/stream";

test("a stream whose client has gone before it opens ends at once", async () => {
  const opened: StreamSink[] = [];
  const dashboard = createFetchDashboard(
    () =>
      Promise.resolve({
        kind: "stream",
        headers: {},
        open(sink) {
          opened.push(sink);
          return () => undefined;
        },
      }),
    undefined,
  );
  const response = await dashboard(new Request(URL_OF_PAGE, { signal: AbortSignal.abort() }));
  expect(opened).toEqual([]);
  expect(await response.text()).toBe("");
});

/** Posts a body that is sent in pieces of so many bytes, or never. Resolves with what the dashboard made of it. */
async function postPieces(bytes: number | "never") {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      bytes === "never" ? new Promise(() => undefined) : controller.enqueue(new Uint8Array(bytes)),
    cancel() {
      isCancelled = true;
    },
  });
  const dashboard = createFetchDashboard(async (request) => {
    const kind = await request.readBody().then(
      () => "read",
      (error: PageApiError) => error.code,
    );
    return { kind: "whole", status: 413, headers: {}, body: kind };
  }, undefined);
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
  const response = await dashboard(new Request(URL_OF_PAGE, init));
  return { kind: await response.text(), isCancelled };
}

test("a body that is too large is cancelled", async () => {
  expect(await postPieces(MAX_ACTION_BYTES / 2 + 1)).toEqual({ kind: "too_large", isCancelled: true });
});

test("a body that does not come in time is cancelled", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const posted = postPieces("never");
  await vi.advanceTimersByTimeAsync(BODY_TIMEOUT_MS);
  expect(await posted).toEqual({ kind: "body_timeout", isCancelled: true });
});
