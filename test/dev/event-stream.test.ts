import { createServer } from "node:http";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { EventStream } from "#pigeonhole/dev/page-port/event-stream.js";
import { eventStreamAnswer } from "#pigeonhole/web/web-answer.js";
import { writeAnswer } from "#pigeonhole/web/write-answer.js";
import type { DevServer } from "#pigeonhole/dev/start-dev-server.js";
import { callApi, deliver, startDev } from "./dev-harness.js";
import { listen } from "../support/listen.js";
import { type ServerEvent, readServerEvents } from "../support/server-events.js";

interface Listener {
  messages: ServerEvent[];
  ended: Promise<void>;
  close(): void;
}

/** Follows a stream as a browser does. */
async function follow(url: URL, lastId?: string): Promise<Listener> {
  const leaving = new AbortController();
  const close = (): void => leaving.abort();
  onTestFinished(close);
  const token = url.searchParams.get("t");
  const response = await fetch(new URL("/api/stream", url), {
    signal: leaving.signal,
    headers: {
      ...(lastId !== undefined && { "last-event-id": lastId }),
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
  });
  const messages: ServerEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const message of readServerEvents(response)) messages.push(message);
  };
  const ended = read().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  return { messages, ended, close };
}

const streamOf = (dev: DevServer, lastId?: string): Promise<Listener> => follow(new URL(dev.pageUrl ?? ""), lastId);

describe("the event stream of the page", () => {
  test("the event stream reports captures that were removed by hand, and to make room for new ones", async () => {
    const { dev } = await startDev({ max: 1 });
    await deliver(dev);
    const first = dev.captures.list()[0]?.id;
    const page = await streamOf(dev);
    await deliver(dev);
    const wanted = [{ event: "capture" }, { event: "removed", data: { ids: [first] } }];
    await expect.poll(() => page.messages).toMatchObject(wanted);
    const ids = dev.captures.list().map(({ id }) => id);
    await callApi(dev, "/api/captures/remove", { ids });
    await expect.poll(() => page.messages.at(-1)).toMatchObject({ event: "removed", data: { ids } });
  });

  test("the event stream sends a page that reconnects exactly the events that it missed", async () => {
    const { dev } = await startDev();
    const page = await streamOf(dev);
    await deliver(dev);
    await expect.poll(() => page.messages.length).toBe(1);
    page.close();
    await deliver(dev);
    await deliver(dev);
    const back = await streamOf(dev, page.messages[0]?.id);
    const [third, second] = dev.captures.list();
    await expect.poll(() => back.messages.map(({ data }) => data["id"])).toEqual([second?.id, third?.id]);
    await deliver(dev);
    await expect.poll(() => back.messages.length).toBe(3);
  });

  test("the event stream tells a page of an earlier run to load its list again", async () => {
    const { dev } = await startDev();
    await deliver(dev);
    for (const lastId of ["0badcafe-1", "odd", "-", "0badcafe-x"]) {
      const page = await streamOf(dev, lastId);
      await expect.poll(() => page.messages).toMatchObject([{ event: "reset" }]);
      page.close();
    }
  });

  test("the event stream ends when the dev server closes", async () => {
    const { dev } = await startDev();
    const page = await streamOf(dev);
    await dev.close();
    await page.ended;
  });
});

describe("the stream itself", () => {
  async function serve(clock = fakeClock()) {
    const stream = new EventStream(clock);
    const server = createServer((req, res) => {
      const answer = eventStreamAnswer((sink) => stream.open(sink, req.headers["last-event-id"]));
      return writeAnswer(req, res, answer);
    });
    const port = await listen(server);
    onTestFinished(() => {
      stream.close();
      server.closeAllConnections();
      server.close();
    });
    return { stream, clock, url: new URL(`http://127.0.0.1:${port}`) };
  }

  test("the stream sends a keep-alive every 15 seconds", async () => {
    const { url, clock } = await serve();
    const page = await follow(url);
    await clock.advance(45_000);
    await expect.poll(() => page.messages.map(({ event }) => event)).toEqual(["comment", "comment", "comment"]);
  });

  test("the stream sends reset to a page that missed more than the server keeps", async () => {
    const { stream, url } = await serve();
    const page = await follow(url);
    stream.publish("capture", { n: 0 });
    await expect.poll(() => page.messages.length).toBe(1);
    page.close();
    for (let n = 1; n <= 2_000; n += 1) stream.publish("capture", { n });
    const kept = await follow(url, page.messages[0]?.id);
    await expect.poll(() => kept.messages.length).toBe(2_000);
    stream.publish("capture", { n: 2_001 });
    const late = await follow(url, page.messages[0]?.id);
    await expect.poll(() => late.messages).toMatchObject([{ event: "reset" }]);
  });

  test("the stream forgets pages that have disconnected", async () => {
    const { stream, url } = await serve();
    const page = await follow(url);
    expect(stream.listeners).toBe(1);
    page.close();
    await expect.poll(() => stream.listeners).toBe(0);
  });
});
