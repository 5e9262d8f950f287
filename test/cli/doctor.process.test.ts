import { symlinkSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import express from "express";
import { createReceiver, type Receiver } from "pigeonhole";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { serve } from "../support/serve.js";
import { startReceiverApp } from "./app.js";
import { jsonLines, runCli, SECRET } from "../support/run-cli.js";
import { makeFolder } from "../support/folder.js";

const env = { WEBHOOK_SECRET: SECRET };

interface Check {
  check: string;
  status: string;
  message: string;
  fix: string | null;
}

/** A receiver in memory behind HTTP; `mount` puts it into an app. */
async function startReceiver(mount: (receiver: Receiver) => RequestListener, options: { maxBodyBytes?: number } = {}) {
  const plain = { secrets: SECRET, store: ":memory:", logger: silentLogger, telemetry: false };
  const receiver = createReceiver({ ...plain, ...options });
  await receiver.start();
  const server = await serve(mount(receiver));
  onTestFinished(() => receiver.stop());
  return { receiver, url: `${server.url}/webhooks` };
}

async function checkUp(args: string[], options: { env?: Record<string, string>; cwd?: string } = { env }) {
  const result = await runCli(["doctor", "--json", ...args], options);
  const checks = jsonLines(result) as unknown as Check[];
  const find = (name: string): Check | undefined => checks.find(({ check }) => check === name);
  return { code: result.code, checks, find };
}

describe("doctor", () => {
  test("doctor finds nothing wrong with a correct app, and does not run its handlers", async () => {
    const app = await startReceiverApp();
    const { code, checks } = await checkUp(["--app", app.url, "--db", app.file]);
    const status = Object.fromEntries(checks.map(({ check, status }) => [check, status]));
    expect(status).toMatchObject({
      sqlite: "pass",
      app: "pass",
      delivery: "pass",
      "large body": "pass",
      "not JSON": "pass",
      database: "pass",
    });
    expect(checks.find(({ check }) => check === "database")?.message).toContain(app.file);
    expect(code).toBe(0);
    expect(app.handled).toEqual([]);
  });

  test("doctor names the commands that list waiting work, with the database that it was given", async () => {
    const app = await startReceiverApp();
    const target = ["--to", app.url, "--unset", "id"];
    await runCli(["trigger", "email.sent", ...target], { env });
    const { find } = await checkUp(["--db", app.file]);
    expect(find("database")).toMatchObject({
      status: "warn",
      fix: `Look with npx pigeonhole inbox list --state parked --db ${app.file}.`,
    });
    const [named, byDefault] = [makeFolder(), makeFolder()];
    writeFileSync(join(named, ".env"), `DATABASE_FILE=${app.file}\n`);
    symlinkSync(app.file, join(byDefault, "pigeonhole.db"));
    for (const cwd of [named, byDefault]) {
      const found = (await checkUp([], { cwd })).find("database");
      expect(found?.fix).toBe("Look with npx pigeonhole inbox list --state parked.");
    }
    // One that is not made yet is not looked for.
    const early = await checkUp([], { env: { ...env, DATABASE_FILE: "data/inbox.db" } });
    expect([early.code, early.find("database")]).toEqual([0, undefined]);
    expect(early.find("app")).toMatchObject({ status: "skip", message: expect.stringContaining("--app") as string });
  });

  const keepBytes = (request: object, _: unknown, bytes: Buffer): void =>
    void Object.assign(request, { rawBody: bytes });

  test.each<[string, express.RequestHandler, [large: string, notJson: string]]>([
    ["express.json({ verify })", express.json({ verify: keepBytes }), ["413", "400"]],
    ["express.json({ verify, limit })", express.json({ verify: keepBytes, limit: "5mb" }), ["pass", "400"]],
    ["express.raw()", express.raw({ type: () => true }), ["413", "pass"]],
    ["express.raw({ limit })", express.raw({ type: () => true, limit: "5mb" }), ["pass", "pass"]],
  ])("doctor says what %s in front of the receiver refuses", async (_, parser, expected) => {
    const refuse: express.ErrorRequestHandler = (error: { status: number }, _request, response, _next) =>
      void response.sendStatus(error.status);
    const { receiver, url } = await startReceiver((own) =>
      express().post("/webhooks", parser, own.middleware()).use(refuse),
    );
    const { code, find } = await checkUp(["--app", url]);
    expect(find("delivery")?.status).toBe("pass");
    for (const [index, name] of ["large body", "not JSON"].entries()) {
      const want = expected[index] ?? "";
      if (want === "pass") expect(find(name)).toMatchObject({ status: "pass", fix: null });
      else {
        expect(find(name)?.message).toContain(`answered ${want} to a delivery`);
        expect(find(name)?.message).toContain("the event would be lost");
        expect(find(name)?.fix).toContain("above every body parser");
      }
    }
    expect(code).toBe(expected.every((want) => want === "pass") ? 0 : 1);
    expect(await receiver.stats()).toMatchObject({ parked: 0 });
    expect((await receiver.inbox.list()).items).toHaveLength(1);
  });

  test("doctor warns of a receiver whose maxBodyBytes is below 150 kB", async () => {
    const { url } = await startReceiver((receiver) => receiver.middleware(), { maxBodyBytes: 10_000 });
    const { find } = await checkUp(["--app", url]);
    expect(find("large body")).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("maxBodyBytes") as string,
    });
  });

  test("doctor looks for the app of a port alone at the path that trigger sends to", async () => {
    const { url } = await startReceiver((receiver) => express().post("/webhooks/mail", receiver.middleware()));
    const { find } = await checkUp(["--app", new URL(url).port]);
    expect(find("delivery")).toMatchObject({ status: "pass" });
  });

  test("doctor detects express.json() in front of the receiver and says how to fix it", async () => {
    const { url } = await startReceiver((own) => express().use(express.json()).post("/webhooks", own.middleware()));
    const { code, find } = await checkUp(["--app", url]);
    const fix = expect.stringContaining("above express.json()") as string;
    expect(find("delivery")).toMatchObject({ status: "fail", fix });
    expect(find("app")?.status).toBe("pass");
    expect(code).toBe(1);
  });

  test("doctor distinguishes another secret, a wrong path, another app and a missing app", async () => {
    const app = await startReceiverApp();
    const other = await serve((_, response) => response.end("hello"));
    const routed = await serve(express().get("/", (_, response) => void response.end()));
    const wrongSecret = await checkUp(["--app", app.url], { env: { WEBHOOK_SECRET: `whsec_${"x".repeat(43)}` } });
    expect(wrongSecret.find("delivery")).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("has another secret than env:WEBHOOK_SECRET") as string,
    });
    expect((await checkUp(["--app", `${routed.url}/webhooks`])).find("delivery")?.fix).toContain("no POST route");
    expect((await checkUp(["--app", other.url])).find("delivery")).toMatchObject({ status: "warn" });
    const nobody = await checkUp(["--app", "9/webhooks"]);
    expect([nobody.code, nobody.find("app")?.status, nobody.find("delivery")?.status]).toEqual([1, "fail", "skip"]);
  });

  test.each([
    ["has quotes", `"whsec_${"x".repeat(43)}"`, "fail", "has quotes"],
    ["was cut", "whsec_xxx", "warn", "3 characters"],
    ["is right", `whsec_${"x".repeat(43)}`, "pass", "looks like"],
  ])("doctor says of a secret that it %s", async (_, secret, status, words) => {
    const { find } = await checkUp(["--secret", secret], {});
    expect(find("secret")).toMatchObject({ status, message: expect.stringContaining(words) as string });
  });

  /** An API whose clock is off by so many seconds. */
  async function startClock(seconds: number, age?: string): Promise<string> {
    const server = await serve((_, response) => {
      response.sendDate = false;
      response.setHeader("date", new Date(Date.now() + seconds * 1000).toUTCString());
      if (age !== undefined) response.setHeader("age", age);
      response.end();
    });
    return server.url;
  }

  const NTP = /^Set the clock by the network \(NTP\).* set it there\.$/;
  const NETWORK = /^Check PIGEONHOLE_BASE_URL and the network\.$/;

  test.each<[string, () => Promise<string> | string, string, RegExp, RegExp | null]>([
    ["near enough", () => startClock(30), "pass", /is (?:29|30|31) s behind that of .* That is near enough\.$/, null],
    ["off", () => startClock(-120), "warn", /is 2 min ahead of that of .* with (?:179|180|181) s to spare\.$/, NTP],
    ["wrong", () => startClock(3900.5), "fail", /is 1 h behind that of .* A receiver here accepts no delivery\.$/, NTP],
    ["not known by a cached answer", () => startClock(-3600, "3600"), "skip", /a cache gave it/, null],
    [
      "not known without an answer",
      () => "http://127.0.0.1:9",
      "warn",
      /: Nothing listens at 127\.0\.0\.1:9\.$/,
      NETWORK,
    ],
  ])("doctor compares the clock with the Date of the API: %s", async (_, start, status, message, fix) => {
    const clock = (await checkUp([], { env: { PIGEONHOLE_BASE_URL: await start() } })).find("clock");
    expect(clock).toMatchObject({ status, message: expect.stringMatching(message) as string });
    expect(clock?.fix).toEqual(fix && expect.stringMatching(fix));
  });
});
