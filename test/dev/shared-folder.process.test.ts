import { TEST_SECRET } from "pigeonhole/testing";
import { expect, test } from "vitest";
import { startCli } from "../support/start-cli.js";
import { callApi, deliver, startApp, startDev } from "./dev-harness.js";

test("a replay of another process is shown with its attempts, and no attempt of either process is lost", async () => {
  const app = await startApp();
  const { dev, folder, kinds } = await startDev({ forwards: [{ target: app.url }] });
  await deliver(dev);
  const [capture] = dev.captures.list();
  const id = capture?.id ?? "";
  const args = ["replay", id, "--times", "20", "--to", `${app.url}/theirs`];
  const theirs = startCli(args, { cwd: folder, env: { WEBHOOK_SECRET: TEST_SECRET } }).ended;
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
