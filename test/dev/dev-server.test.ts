import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startDevServer } from "#pigeonhole/dev/start-dev-server.js";
import { callApi, deliver, send, startApp, startDev } from "./dev-harness.js";
import { makeFolder } from "../support/folder.js";

describe("the dev server", () => {
  test("the dev server emits the addresses of both ports before any other event", async () => {
    const { dev, events } = await startDev({ forwards: [{ types: "email.*", target: "3999" }] });
    expect(events).toEqual([
      {
        kind: "ready",
        captureUrl: dev.captureUrl,
        publicUrl: null,
        pageUrl: dev.pageUrl,
        inbox: null,
        sandbox: null,
        // The whole URL of an app that is given without a path.
        forwards: [{ types: "email.*", target: "http://127.0.0.1:3999/webhooks/mail" }],
        secrets: ["env:WEBHOOK_SECRET"],
        captures: 0,
        broken: [],
      },
    ]);
  });

  test("the page's URL and its cookie outlive a restart, by a file that only this user can read", async () => {
    const first = await startDev();
    const page = new URL(first.dev.pageUrl ?? "");
    const cookie = (await send(page.href)).headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    await first.dev.close();
    const second = await startDev({ cwd: first.folder, pagePort: Number(page.port) });
    expect(second.dev.pageUrl).toBe(page.href);
    expect((await send(page.origin, { headers: [["Cookie", cookie]] })).status).toBe(200);
    const file = join(first.folder, ".pigeonhole/page-token");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await startDev()).dev.pageUrl).not.toContain(page.search);
  });

  test.each(["", "short", "x".repeat(44)])("a page token of %j is replaced", async (text) => {
    const folder = makeFolder();
    mkdirSync(join(folder, ".pigeonhole"));
    const file = join(folder, ".pigeonhole/page-token");
    writeFileSync(file, text);
    const { dev } = await startDev({ cwd: folder });
    expect(readFileSync(file, "utf8").trim()).toBe(new URL(dev.pageUrl ?? "").searchParams.get("t"));
  });

  test("the dev server closes once, frees both ports and keeps its captures", async () => {
    const { dev, folder, kinds } = await startDev();
    await deliver(dev);
    await Promise.all([dev.close(), dev.close()]);
    expect(kinds().filter((kind) => kind === "closed")).toHaveLength(1);
    await expect(send(dev.captureUrl)).rejects.toThrow(/ECONNREFUSED/);
    await expect(send(dev.pageUrl ?? "")).rejects.toThrow(/ECONNREFUSED/);
    const again = await startDev({ cwd: folder });
    expect(again.dev.captures.size).toBe(1);
  });

  test("the dev server closes after the delivery under way has ended", async () => {
    let answer = (): void => undefined;
    const app = await startApp((_, res) => (answer = () => void res.end("done")));
    const { dev } = await startDev({ forwards: [{ target: app.url }] });
    const answered = deliver(dev);
    await expect.poll(() => app.seen.length).toBe(1);
    const closed = dev.close();
    answer();
    expect(await answered).toMatchObject({ status: 200, text: "done" });
    await closed;
  });

  test("the dev server answers 503 when it closes before the app has answered", async () => {
    const app = await startApp(() => undefined);
    const { dev } = await startDev({ forwards: [{ target: app.url }], pagePort: false });
    const answered = deliver(dev);
    await expect.poll(() => app.seen.length).toBe(1);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const closed = dev.close();
    while (vi.getTimerCount() < 2) await setImmediate();
    vi.advanceTimersByTime(1_000);
    await closed;
    expect(await answered).toMatchObject({ status: 503 });
  });

  test("the dev server continues without a listener and with one that fails", async () => {
    const report = () => {
      throw new Error("broken pipe");
    };
    for (const listener of [undefined, report]) {
      const dev = await startDevServer({ port: 0, pagePort: 0, cwd: makeFolder(), report: listener });
      expect(await deliver(dev)).toMatchObject({ status: 202 });
      await dev.close();
    }
  });

  test("the dev server serves no page if none is wanted", async () => {
    const { dev } = await startDev({ pagePort: false });
    expect(dev.pageUrl).toBeNull();
    expect(await deliver(dev)).toMatchObject({ status: 202 });
  });

  test("the dev server says that its page was not built, and captures all the same", async () => {
    const { dev } = await startDev({ pageFolder: makeFolder() });
    const page = new URL(dev.pageUrl ?? "");
    const answer = await send(page.origin, { headers: [["Authorization", `Bearer ${page.searchParams.get("t")}`]] });
    expect(answer).toMatchObject({ status: 503, headers: { "content-type": "text/plain; charset=utf-8" } });
    expect(answer.text).toContain("npm run build");
    expect((await callApi(dev, "/api/session")).status).toBe(200);
  });

  test.each(["port", "pagePort"])("the error for a port that is taken names the option %s", async (option) => {
    const { dev } = await startDev();
    const { port } = new URL((option === "port" ? dev.captureUrl : dev.pageUrl) ?? "");
    const taken = { code: "port_in_use", message: expect.stringContaining(`(${option})`) as string };
    await expect(startDev({ [option]: Number(port) })).rejects.toMatchObject(taken);
  });

  test.each([
    [{ port: 70_000 }, /port must be/],
    [{ host: "192.0.2.1" }, /not an address of this machine/],
    [{ publicUrl: "ftp://x" }, /publicUrl must be/],
    [{ publicUrl: "https://x.example", tunnel: "ngrok" }, /not both/],
    [{ timeoutMs: 0 }, /timeoutMs must be/],
  ])("the dev server refuses %o", async (options, message) => {
    await expect(startDev(options)).rejects.toThrow(message);
  });
});

describe("a public URL", () => {
  test.each([
    ["https://abc.example.com", "https://abc.example.com/webhooks/mail"],
    ["https://abc.example.com/", "https://abc.example.com/webhooks/mail"],
    ["https://abc.example.com/other", "https://abc.example.com/other"],
  ])("a public URL %s is shown as %s", async (publicUrl, shown) => {
    expect((await startDev({ publicUrl })).dev.publicUrl).toBe(shown);
  });
});
