import { createServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NOT_LOCAL, createLocalLookUp, isLocalAddress } from "#pigeonhole/capture/send/local-address.js";
import { sendRequest } from "#pigeonhole/capture/send/send-request.js";
import { checkLocalTarget, parseTarget, targetUrl } from "#pigeonhole/capture/send/target.js";
import { serve, serveAnswers } from "../support/captures.js";
import { errorOf } from "../support/error-of.js";
import { listen } from "../support/listen.js";

/** Time passes only as a test says, but not that of Node's own timers. */
function useFakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

const post = { method: "POST", headers: [] as [string, string][], body: Buffer.from("{}") };

describe("the outgoing request", () => {
  test("a request keeps header order, spelling and duplicates, and drops the headers of the old connection", async () => {
    const { url, received } = await serveAnswers();
    const { host } = new URL(url);
    const answer = await sendRequest({
      ...post,
      url: `${url}/hooks?a=1`,
      headers: [
        ["Host", "tunnel.example"],
        ["X-Dup", "1"],
        ["Transfer-Encoding", "chunked"],
        ["x-dup", "2"],
        ["CONTENT-LENGTH", "999"],
        ["Expect", "100-continue"],
        ["Connection", "upgrade"],
      ],
    });
    const sent = ["Host", host, "X-Dup", "1", "x-dup", "2", "CONTENT-LENGTH", "2"];
    expect(answer).toMatchObject({ status: 200, error: null, failure: null });
    expect(answer.sentHeaders.flat()).toEqual(sent);
    expect(received[0]?.rawHeaders.slice(0, sent.length)).toEqual(sent);
    expect(received[0]).toMatchObject({ method: "POST", url: "/hooks?a=1", body: Buffer.from("{}") });
  });

  test("a request keeps the captured host if asked", async () => {
    const { url, received } = await serveAnswers();
    await sendRequest({ ...post, url, headers: [["Host", "tunnel.example"]], keepHost: true });
    expect(received[0]?.headers.host).toBe("tunnel.example");
  });

  test("a request does not follow a redirect", async () => {
    const { url, received } = await serveAnswers(() => ({ status: 302, headers: { location: "/elsewhere" } }));
    expect(await sendRequest({ ...post, url })).toMatchObject({ status: 302, failure: null });
    expect(received).toHaveLength(1);
  });
});

describe("failures of an outgoing request", () => {
  test("a request to a port without a listener fails and says so", async () => {
    const answer = await sendRequest({ ...post, url: "http://127.0.0.1:1/" });
    expect(answer).toMatchObject({ status: null, failure: "refused" });
    expect(answer.error).toContain("127.0.0.1:1");
  });

  test("a request waits for a time that is longer than Node's timers allow", async () => {
    const { url } = await serveAnswers(() => ({ status: 200 }));
    const answer = await sendRequest({ ...post, url, timeoutMs: 30 * 24 * 60 * 60 * 1_000 });
    expect(answer).toMatchObject({ status: 200, failure: null });
  });

  test("a request fails with different words for a missing answer and for an abort", async () => {
    useFakeTimeouts();
    const controller = new AbortController();
    const { signal } = controller;
    const silent = await serve(() => void vi.advanceTimersByTime(30));
    const late = await sendRequest({ ...post, url: silent, timeoutMs: 30 });
    expect(late).toMatchObject({ status: null, failure: "timeout" });
    const url = await serve(() => controller.abort());
    expect(await sendRequest({ ...post, url, signal })).toMatchObject({ failure: "aborted" });
    expect(await sendRequest({ ...post, url, signal })).toMatchObject({ failure: "aborted", ms: expect.any(Number) });
  });

  test("an answer after more time than the service waits is none, also if the sender waits for it", async () => {
    const { url } = await serveAnswers(() => {
      const now = performance.now();
      vi.spyOn(performance, "now").mockReturnValue(now + 7_000);
      return { status: 200 };
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const answer = await sendRequest({ ...post, url, timeoutMs: 30_000 });
    expect(answer).toMatchObject({ status: null, failure: "timeout", ms: expect.closeTo(7_000, -3) as number });
    expect(answer.error).toMatch(/ answered 200 after 7\d{3} ms, too late: the service waits 5 s\.$/);
  });

  test("a request that gets only a part of the answer in time has no status", async () => {
    useFakeTimeouts();
    const url = await serve((_, res) => {
      res.writeHead(200, { "content-length": "10" }).write("half", () => vi.advanceTimersByTime(50));
    });
    expect(await sendRequest({ ...post, url, timeoutMs: 50 })).toMatchObject({ status: null, failure: "timeout" });
  });

  test("a request fails and says so if the answer stops halfway", async () => {
    const url = await serve((_, res) => {
      res.writeHead(200, { "content-length": "10" }).write("half", () => res.socket?.end());
    });
    const answer = await sendRequest({ ...post, url });
    expect(answer).toMatchObject({ status: 200, failure: "broken", body: Buffer.from("half") });
  });

  test("a request fails and says so if the answer never ends", async () => {
    const { url } = await serveAnswers(() => ({ body: "x".repeat(5000) }));
    expect(await sendRequest({ ...post, url, maxAnswerBytes: 1000 })).toMatchObject({ failure: "answer_too_large" });
  });

  test("a request that gets an answer in another protocol fails at once and says so", async () => {
    const url = await serve((req) => {
      req.socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n");
    });
    const answer = await sendRequest({ ...post, url, timeoutMs: 3_000 });
    expect(answer).toMatchObject({ status: 101, failure: "broken" });
    expect(answer.error).toContain("changed the protocol");
  });

  test("a request fails and says so if the answer is not HTTP", async () => {
    const server = createServer((socket) => socket.end("hello\r\n\r\n"));
    await listen(server);
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await sendRequest({ ...post, url: `http://127.0.0.1:${port}` })).toMatchObject({
      status: null,
      failure: "broken",
    });
  });

  test("a request with a header that HTTP does not allow fails and says so", async () => {
    const answer = await sendRequest({ ...post, url: "http://127.0.0.1:1/", headers: [["X-Bad", "a\r\nb: c"]] });
    expect(answer).toMatchObject({ status: null, failure: "invalid_request" });
  });

  test("a request to an outside address fails and says so, unless it is allowed", async () => {
    const answer = await sendRequest({ ...post, url: "http://203.0.113.7/" });
    expect(answer).toMatchObject({ status: null, failure: "not_local" });
    expect(answer.error).toContain("--allow-remote");
  });
});

test.each([
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["10.1.2.3", true],
  ["172.31.0.1", true],
  ["172.32.0.1", false],
  ["192.168.1.1", true],
  ["169.254.169.254", false],
  ["0.0.0.0", true],
  ["8.8.8.8", false],
  ["::1", true],
  ["::ffff:8.8.8.8", false],
  ["::ffff:127.0.0.1", true],
  ["::ffff:7f00:1", true],
  ["::ffff:808:808", false],
  ["::ffff:a9fe:a9fe", false],
  ["fd00::1", true],
  ["fe80::1%eth0", true],
  ["2001:db8::1", false],
  ["localhost", false],
])("the address %s is local: %s", (address, local) => expect(isLocalAddress(address)).toBe(local));

test.each([
  ["127.0.0.1", undefined],
  ["203.0.113.7", NOT_LOCAL],
  ["169.254.169.254", NOT_LOCAL],
  ["2001:db8::1", NOT_LOCAL],
])("a connection by a name that resolves to %s ends with the error %s", async (address, code) => {
  const failure = await new Promise((resolve) => {
    createLocalLookUp()(address, {}, (error) => resolve(error?.code));
  });
  expect(failure).toBe(code);
});

describe("reading a target", () => {
  test.each([
    ["3000", "http://127.0.0.1:3000/webhooks?q=1"],
    [":3000", "http://127.0.0.1:3000/webhooks?q=1"],
    ["localhost:3000/hooks", "http://localhost:3000/hooks"],
    ["http://[::1]:3000", "http://[::1]:3000/webhooks?q=1"],
    ["https://app.example/x?y=2", "https://app.example/x?y=2"],
  ])("the target %s is read as %s", (text, url) => {
    expect(targetUrl(text, { path: "/webhooks", query: "q=1" })).toBe(url);
  });

  test.each(["", "ftp://x", "file:///etc/passwd", "http://user:pass@localhost/", "not a url", "http://localhost/#a"])(
    "the target %j is refused",
    async (text) => {
      const error = await errorOf(() => parseTarget(text));
      expect(error.code).toBe("invalid_argument");
      expect(error.message).not.toContain("pass@");
    },
  );

  test("a target outside this machine is refused before anything is sent", async () => {
    await checkLocalTarget("http://localhost:3000");
    await checkLocalTarget("http://[::1]:3000");
    for (const target of ["http://203.0.113.7/", "http://[2001:db8::1]/"]) {
      expect((await errorOf(() => checkLocalTarget(target))).message).toContain("--allow-remote");
    }
  });
});
