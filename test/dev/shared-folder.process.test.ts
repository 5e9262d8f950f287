import { rmSync } from "node:fs";
import { join } from "node:path";
import { TEST_SECRET } from "pigeonhole/testing";
import { describe, expect, test } from "vitest";
import { type ProcessOptions, startCli } from "../support/start-cli.js";
import { callApi, deliver, findAbsentApp, makeDelivery, send, startApp, startDev } from "./dev-harness.js";

const env = { WEBHOOK_SECRET: TEST_SECRET };

const runProcess = (args: readonly string[], options: ProcessOptions) => startCli(args, options).ended;

const fileOf = (folder: string, id = ""): string => join(folder, ".pigeonhole", "captures", `${id}.json`);

describe("another process beside a running dev server", () => {
  test("a replay of another process is shown with its attempts, and no attempt of either process is lost", async () => {
    const app = await startApp();
    const { dev, folder, kinds } = await startDev({ forwards: [{ target: app.url }] });
    await deliver(dev);
    const [capture] = dev.captures.list();
    const id = capture?.id ?? "";
    const theirs = runProcess(["replay", id, "--times", "20", "--to", `${app.url}/theirs`], { cwd: folder, env });
    await expect.poll(() => app.seen.length, { interval: 5 }).toBeGreaterThan(2);
    for (let n = 0; n < 20; n += 1) await dev.replay({ ids: [id], target: `${app.url}/ours` });
    expect(await theirs).toMatchObject({ code: 0 });
    // The forward, and twenty replays of each.
    await expect.poll(() => dev.captures.get(id)?.attempts.length).toBe(41);
    const attempts = dev.captures.get(id)?.attempts ?? [];
    expect(attempts.map(({ n }) => n)).toEqual(attempts.map((_, index) => index + 1));
    for (const path of ["ours", "theirs"])
      expect(attempts.filter(({ target }) => target.endsWith(path))).toHaveLength(20);
    await expect.poll(() => kinds().filter((kind) => kind === "replayed")).toHaveLength(40);
    expect(await callApi(dev, `/api/captures/${id}`)).toMatchObject({ json: { summary: { attempts: 41 } } });
  });

  test("a held delivery that another process deletes is removed from the queue", async () => {
    const gone = await findAbsentApp();
    const { dev, folder } = await startDev({ forwards: [{ target: gone.url }], whenDown: "hold" });
    await deliver(dev);
    expect(dev.held).toBe(1);
    rmSync(fileOf(folder, dev.captures.list()[0]?.id));
    await expect.poll(() => dev.held).toBe(0);
  });

  test("a held delivery is sent by only one of two processes that forward to the same app", async () => {
    const gone = await findAbsentApp();
    const options = { forwards: [{ target: gone.url }], whenDown: "hold" as const };
    const first = await startDev(options);
    const sent = [makeDelivery(), makeDelivery(), makeDelivery(), makeDelivery()];
    for (const delivery of sent) await deliver(first.dev, delivery);
    const second = await startDev({ ...options, cwd: first.folder });
    expect([first.dev.held, second.dev.held]).toEqual([4, 4]);
    const app = await startApp((_, res) => void setTimeout(() => res.end("ok"), 30), gone.port);
    await expect.poll(() => [first.dev.held, second.dev.held]).toEqual([0, 0]);
    expect(app.seen.map(({ body }) => body.toString())).toEqual(sent.map(({ body }) => body.toString()));
    const told = [...first.kinds(), ...second.kinds()].filter((kind) => kind === "delivered");
    expect(told).toHaveLength(4);
    expect(first.dev.captures.list().some(({ tags }) => tags.includes("held"))).toBe(false);
  });

  test("a held delivery is also sent by another process that forwards to another app", async () => {
    const gone = await findAbsentApp();
    const first = await startDev({ forwards: [{ target: gone.url }], whenDown: "hold" });
    await deliver(first.dev);
    const other = await startApp();
    await startDev({ forwards: [{ target: other.url }], cwd: first.folder });
    await expect.poll(() => other.seen.length).toBe(1);
    const app = await startApp(undefined, gone.port);
    await expect.poll(() => app.seen.length).toBe(1);
  });

  test("a process that ends leaves its held deliveries to the one that continues", async () => {
    const gone = await findAbsentApp();
    const options = { forwards: [{ target: gone.url }], whenDown: "hold" as const };
    const living = await startDev(options);
    const ending = await startDev({ ...options, cwd: living.folder });
    await deliver(ending.dev);
    await deliver(living.dev);
    await expect.poll(() => [living.dev.held, ending.dev.held]).toEqual([2, 2]);
    await ending.dev.close();
    expect(living.dev.held).toBe(2);
    const app = await startApp(undefined, gone.port);
    await expect.poll(() => living.dev.held).toBe(0);
    expect(app.seen).toHaveLength(2);
  }, 30_000);

  test("a process that is killed leaves its held deliveries to the one that continues", async () => {
    const gone = await findAbsentApp();
    const living = await startDev({ forwards: [{ target: gone.url }], whenDown: "hold" });
    const flags = ["--port", "0", "--no-page", "--forward-to", gone.url, "--when-down", "hold", "--json"];
    const killed = startCli(["dev", ...flags], { cwd: living.folder, env });
    const { captureUrl } = JSON.parse(await killed.line(/"kind":"ready"/)) as { captureUrl: string };
    const { headers, body } = makeDelivery();
    expect(await send(captureUrl, { method: "POST", headers, body })).toMatchObject({ status: 202 });
    await expect.poll(() => living.dev.held).toBe(1);
    killed.signal("SIGKILL");
    const app = await startApp(undefined, gone.port);
    await expect.poll(() => app.seen.length).toBe(1);
    await expect.poll(() => living.dev.captures.list().map(({ tags }) => tags)).toEqual([[]]);
  }, 45_000);
});
