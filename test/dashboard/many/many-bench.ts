import { setTimeout as sleep } from "node:timers/promises";
import { createReceiver } from "pigeonhole";
import { createDashboard } from "pigeonhole/dashboard";
import { TEST_SECRET, signDelivery } from "pigeonhole/testing";
import { DAY, HOUR, MINUTE, SECOND } from "#pigeonhole/base/duration.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { PERSON_HEADER, type PageSession } from "#pigeonhole/web/api/session.js";
import type { ErrorGroupList } from "#pigeonhole/store/error-groups.js";
import type { BulkJobList } from "#pigeonhole/dashboard/job-body.js";
import { writeExampleFigures } from "../../dev/page/dashboard/example-figures.js";
import { startServer } from "../../support/serve.js";
import { makeEvent } from "../../support/receiver.js";
import type { FullStore } from "./stores.js";
import type { View } from "./views.js";

const MOUNT = "/ops/webhooks";

/** An app with a full store that takes deliveries and has the dashboard, both over HTTP. */
export async function startManyBench({ store }: FullStore) {
  // Handlers run elsewhere: what they write would be measured too.
  const receiver = createReceiver({
    secrets: TEST_SECRET,
    store,
    role: "accept",
    logger: silentLogger,
    telemetry: false,
  });
  await receiver.start();
  await writeExampleFigures(receiver, { spanMs: 7 * DAY, everyMs: 30 * MINUTE });
  await writeExampleFigures(receiver, { spanMs: HOUR, everyMs: 10 * SECOND });
  const dashboard = createDashboard<unknown>(receiver, {
    allow: () => ({ role: "operate", name: "ann" }),
    path: MOUNT,
  });
  const hooks = receiver.middleware();
  const server = await startServer((req, res) => (req.url === "/hooks" ? hooks(req, res) : dashboard(req, res)));
  const page = `${server.url}${MOUNT}/`;
  const read = async <Body>(path: string): Promise<Body> => (await (await fetch(`${page}api/${path}`)).json()) as Body;
  const { name } = await read<PageSession>("session");
  const post = (path: string, body: unknown) =>
    fetch(`${page}api/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", origin: server.url, [PERSON_HEADER]: name },
    });

  return {
    /** Id of the group of errors with most events. */
    async largestGroup(): Promise<string> {
      const { items } = await read<ErrorGroupList>("errors");
      return items.toSorted((one, other) => other.events - one.events)[0]?.id ?? "";
    },
    /** Milliseconds until a view was read. */
    async time({ path, body }: View): Promise<number> {
      const startedAt = performance.now();
      const response = await (body === undefined ? fetch(`${page}api/${path}`) : post(path, body));
      await response.text();
      if (response.status >= 500) throw new Error(`${path} was answered ${response.status}`);
      return performance.now() - startedAt;
    },
    /** Begins a job, and resolves with the pieces that it changed once it has ended. */
    async runJob(body: View["body"]): Promise<number> {
      const { id } = (await (await post("jobs", body)).json()) as { id: string };
      for (;;) {
        const job = (await read<BulkJobList>("jobs")).jobs.find((each) => each.id === id);
        if (job !== undefined && job.state !== "open") return job.done;
        await sleep(100);
      }
    },
    deliver: async (): Promise<number> => {
      const body = JSON.stringify(makeEvent({ id: `evt_new_${performance.now()}` }));
      const headers = { ...signDelivery({ body, secret: TEST_SECRET }), "content-type": "application/json" };
      const startedAt = performance.now();
      const { status } = await fetch(`${server.url}/hooks`, { method: "POST", body, headers });
      if (status !== 200) throw new Error(`a delivery was answered ${status}`);
      return performance.now() - startedAt;
    },
    async close(): Promise<void> {
      await server.close();
      await receiver.stop({ timeoutMs: 0 });
    },
  };
}

export type ManyBench = Awaited<ReturnType<typeof startManyBench>>;

/** Sends deliveries all the time, 20 a second; `end` resolves with how long each answer took, in milliseconds. */
export function deliverAllTheTime(bench: ManyBench): { end(): Promise<number[]> } {
  const times: number[] = [];
  const ending = new AbortController();
  const sending = (async () => {
    while (!ending.signal.aborted) {
      times.push(await bench.deliver());
      await sleep(50);
    }
  })();
  return {
    async end() {
      ending.abort();
      await sending;
      return times;
    },
  };
}
