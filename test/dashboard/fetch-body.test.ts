import { expect, test } from "vitest";
import { createFetchDashboard } from "#pigeonhole/dashboard/fetch-dashboard.js";
import { MAX_ACTION_BYTES } from "#pigeonhole/dashboard/dashboard-request.js";
import type { StreamSink } from "#pigeonhole/dashboard/dashboard-request.js";

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

test("a body that is too large is cancelled", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(MAX_ACTION_BYTES / 2 + 1)),
    cancel() {
      isCancelled = true;
    },
  });
  const dashboard = createFetchDashboard(async ({ readBody }) => {
    const { kind } = await readBody();
    return { kind: "whole", status: 413, headers: {}, body: kind };
  }, undefined);
  const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
  const response = await dashboard(new Request(URL_OF_PAGE, init));
  expect(await response.text()).toBe("too_large");
  expect(isCancelled).toBe(true);
});
