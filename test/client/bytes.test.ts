import { getEventListeners } from "node:events";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { fakeClock } from "pigeonhole/testing";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { ClientOptions, Download } from "#pigeonhole/client.js";
import type { FetchFunction } from "#pigeonhole/client/attempt.js";
import type { Call, CallOptions, UploadCallOptions } from "#pigeonhole/client/call-types.js";
import { readFileName } from "#pigeonhole/client/download.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { MADE_UP, callOf, serve } from "../contract/made-up-operation.js";
import { LIVE_KEY, listenTo, verdict } from "../sandbox/api/support.js";
import { makeFolder } from "../support/folder.js";
import { type Reply, startApi } from "./api-server.js";
import { API_KEY, fastClock, rejection } from "./support.js";
import type { UploadData } from "#pigeonhole/client/upload-body.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const MAX = 1_000_000;
const query = z.strictObject({ filename: z.string().regex(/\S/, { error: "Must not be blank." }) });
const UPLOAD = {
  ...MADE_UP,
  method: "POST",
  retry: "never",
  path: "/things",
  params: z.strictObject({}),
  uploads: { maxBytes: MAX },
  query,
} as const satisfies Operation;
const { result: _, ...withoutResult } = MADE_UP;
const DOWNLOAD = { ...withoutResult, downloads: true } as const satisfies Operation;

/** Bytes that differ from their neighbours. */
const some = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 31) % 251);
const named = { filename: "a b.txt" };

async function* parts(...chunks: unknown[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk as Uint8Array;
}

/** An upload to an emulator over HTTP, and what that has taken. */
async function uploadTo(options: Partial<ClientOptions> = {}) {
  const { api, seen } = serve(UPLOAD);
  const { baseUrl } = await listenTo(api);
  return { seen, upload: callOf(UPLOAD, { apiKey: LIVE_KEY, baseUrl, ...options }) };
}

/** An upload over a function of the test's own. */
const uploadOver = (fetch: FetchFunction, options: Partial<ClientOptions> = {}) =>
  callOf(UPLOAD, { apiKey: API_KEY, baseUrl: "https://api.example", fetch, ...options });

describe("an upload", () => {
  const data = some(700_000);
  const blob = (type?: string) => new Blob([Buffer.from(data)], { type });
  const unknown = "application/octet-stream";
  test.each<[string, () => UploadData, UploadCallOptions, string, string]>([
    ["bytes", () => data, {}, unknown, "700000"],
    ["a part of a buffer", () => new Uint8Array([1, ...data, 2]).subarray(1, -1), {}, unknown, "700000"],
    ["a Blob", () => blob("image/png"), {}, "image/png", "700000"],
    ["a Blob under another type", () => blob(), { contentType: "text/plain" }, "text/plain", "700000"],
    ["a web stream", () => blob().stream(), {}, unknown, "none"],
    ["a stream of Node", () => Readable.from([data.subarray(0, 9), data.subarray(9)]), {}, unknown, "none"],
  ])("an upload of %s arrives as it is", async (_, make, options, type, length) => {
    const lengths: unknown[] = [];
    const watched: FetchFunction = (url, init) => {
      lengths.push(new Headers(init.headers).get("content-length") ?? "none");
      return fetch(url, init);
    };
    const { upload, seen } = await uploadTo({ fetch: watched });
    await upload(make(), named, options);
    expect(seen).toMatchObject([{ contentType: type, query: named }]);
    expect(Buffer.compare(seen[0]?.body as Uint8Array, data)).toBe(0);
    expect(lengths).toEqual([length]);
  });

  test("an upload is given to fetch without a copy", async () => {
    const chunks: Uint8Array[] = [];
    const upload = uploadOver(async (_, init) => {
      for await (const chunk of init.body as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
      return new Response("{}");
    });
    await upload(data, named);
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.every(({ buffer }) => buffer === data.buffer)).toBe(true);
  });

  test.each<[string, unknown[], string | undefined]>([
    ["no bytes", [new Uint8Array(0), named], undefined],
    ["an empty Blob", [new Blob([]), named], undefined],
    ["too many bytes", [some(MAX + 1), named], undefined],
    ["a text", ["text", named], undefined],
    ["nothing", [undefined, named], undefined],
    ["a blank name", [data, { filename: " " }], "filename"],
    ["no name", [data], "filename"],
    ["a type of two lines", [data, named, { contentType: "a/b\r\nx: 1" }], "contentType"],
  ])("an upload of %s is refused before anything is sent", async (_, args, param) => {
    const { call, sent } = serve(UPLOAD);
    const refused = { name: "InvalidInputError", code: "invalid_parameter", param };
    expect(await rejection(call(...args))).toMatchObject(refused);
    expect(sent).toEqual([]);
  });

  test("an upload of exactly the limit is taken", async () => {
    const { call, seen } = serve(UPLOAD);
    await call(some(MAX), named);
    expect(seen.map(({ body }) => (body as Uint8Array).byteLength)).toEqual([MAX]);
  });

  async function* failing() {
    yield some(10);
    throw new Error("The disk is gone.");
  }
  test.each([
    ["has too many bytes", () => parts(some(MAX), some(1)), /more than 1000000 bytes/, "invalid_argument"],
    ["has something else than bytes", () => parts("text"), /something else than bytes/, "invalid_argument"],
    ["fails", failing, /^The disk is gone\.$/, undefined],
  ])("an upload whose stream %s is broken off, and nothing is stored", async (_, make, message, code) => {
    const { upload, seen } = await uploadTo();
    const error = await rejection(upload(make(), named));
    expect(error).toMatchObject({ message: expect.stringMatching(message) as string });
    expect((error as { code?: string }).code).toBe(code);
    expect(seen).toEqual([]);
  });

  test("what was sent of an upload is not kept", async () => {
    const refs: WeakRef<ArrayBufferLike>[] = [];
    let kept = -1;
    const watched = async function* () {
      for (let count = 0; count < 20; count += 1) {
        const chunk = some(40_000);
        refs.push(new WeakRef(chunk.buffer));
        yield chunk;
        await nextTurn();
      }
      collectGarbage();
      kept = refs.filter((ref) => ref.deref() !== undefined).length;
    };
    const { upload } = await uploadTo();
    await upload(watched(), named);
    expect(kept).toBeLessThan(10);
  });

  test.each([301, 304, 308])("an upload that is answered with a redirect %i is not sent there", async (status) => {
    const server = await startApi({ status, body: "", headers: { location: "/elsewhere" } });
    const error = await rejection(callOf(UPLOAD, { apiKey: API_KEY, baseUrl: server.baseUrl })(data, named));
    expect(error).toMatchObject({ name: "ApiError", code: "redirect_refused" });
    expect(server.received.map(({ url }) => url)).toEqual(["/v1/things?filename=a+b.txt"]);
  });

  test("an upload that is aborted closes its stream and rejects with the reason of its signal", async () => {
    const server = await startApi({});
    let closed = false;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<Uint8Array>>(() => {}),
        return: () => {
          closed = true;
          return Promise.resolve({ done: true as const, value: undefined });
        },
      }),
    };
    const controller = new AbortController();
    const upload = callOf(UPLOAD, { apiKey: API_KEY, baseUrl: server.baseUrl });
    const got = rejection(upload(source, named, { signal: controller.signal }));
    setImmediate(() => controller.abort("enough"));
    expect(await got).toBe("enough");
    await expect.poll(() => closed).toBe(true);
  });

  test("an upload may take longer than the time-out as long as its bytes are taken", async () => {
    const clock = fakeClock();
    const { call } = serve(UPLOAD, { client: { clock, timeoutMs: 1_000 } });
    const slow = async function* () {
      for (let count = 0; count < 5; count += 1) {
        await clock.advance(900);
        yield some(10);
      }
      // The source's own time is not the service's.
      await clock.advance(60_000);
    };
    expect(await call(slow(), named)).toEqual({});
  });

  test("a large chunk of an upload has the time of several stretches", async () => {
    const clock = fakeClock();
    const slowly: FetchFunction = async (_, init) => {
      for await (const chunk of init.body as unknown as AsyncIterable<Uint8Array>) {
        // A service that takes 250 KiB a second.
        await clock.advance((chunk.byteLength / 256_000) * 1_000);
      }
      return new Response("{}");
    };
    const upload = uploadOver(slowly, { clock, timeoutMs: 2_000 });
    expect(await upload(parts(new Uint8Array(MAX)), named)).toEqual({});
    expect(clock.pendingTimers).toBe(0);
  });

  test("the emulator refuses an upload that is empty or too large", async () => {
    const { send, seen } = serve(UPLOAD);
    expect(verdict(await send("POST /things?filename=a", { body: "" }))).toBe("422 invalid_parameter");
    expect(verdict(await send("POST /things?filename=a", { body: "x".repeat(MAX + 1) }))).toBe("413 request_too_large");
    expect(verdict(await send("POST /things?filename=a", { body: "x".repeat(MAX) }))).toBe("200");
    expect(seen).toHaveLength(1);
  });

  test("the types of an upload name its data, its query and its options", () => {
    expectTypeOf<Call<typeof UPLOAD>>().parameters.toEqualTypeOf<
      [data: UploadData, query: { filename: string }, options?: UploadCallOptions]
    >();
    expectTypeOf<Call<typeof DOWNLOAD>>().parameters.toEqualTypeOf<[id: string, options?: CallOptions]>();
    expectTypeOf<Awaited<ReturnType<Call<typeof DOWNLOAD>>>>().toEqualTypeOf<Download>();
  });
});

/** A call of a download that a server answers. */
async function downloadFrom(reply: Reply | Reply[], options: Partial<ClientOptions> = {}) {
  const server = await startApi(...[reply].flat());
  const call = callOf(DOWNLOAD, { apiKey: API_KEY, baseUrl: server.baseUrl, ...options });
  return { server, call: call as Call<typeof DOWNLOAD> };
}

const content = some(300_000);
const whole: Reply = (response) => {
  response.writeHead(200, {
    "content-type": "image/png",
    "content-length": content.byteLength,
    "content-disposition": `attachment; filename="a.png"`,
  });
  response.end(content);
};
/** Says more than it sends. */
const cut: Reply = (response) => {
  response.writeHead(200, { "content-length": content.byteLength });
  response.write(content.subarray(0, 1000), () => response.destroy());
};

describe("a download", () => {
  test("a download has the file's type, name, size and bytes", async () => {
    const { server, call } = await downloadFrom(whole);
    const file = await call("1");
    expect(file).toMatchObject({ contentType: "image/png", filename: "a.png", sizeBytes: content.byteLength });
    expect(Buffer.compare(await file.bytes(), content)).toBe(0);
    expect(server.received[0]?.headers).toMatchObject({ accept: "*/*", "accept-encoding": "identity" });
  });

  test("a download of unknown type, name and size has its bytes all the same", async () => {
    const { call } = await downloadFrom(inChunks);
    const file = await call("1");
    expect(file).toMatchObject({ contentType: "application/octet-stream", filename: undefined, sizeBytes: undefined });
    expect(Buffer.compare(await file.bytes(content.byteLength), content)).toBe(0);
  });

  test("a download that a proxy compressed has its own bytes, and no size before they are read", async () => {
    const compressed = gzipSync(content);
    const { call } = await downloadFrom((response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": compressed.byteLength });
      response.end(compressed);
    });
    const file = await call("1");
    expect(file.sizeBytes).toBeUndefined();
    expect(Buffer.compare(await file.bytes(), content)).toBe(0);
  });

  const inChunks: Reply = (response) => {
    for (let at = 0; at < content.byteLength; at += 7000) response.write(content.subarray(at, at + 7000));
    response.end();
  };
  test.each<[string, Reply]>([
    ["of known size", whole],
    ["of unknown size", inChunks],
  ])("a download %s over the limit is refused", async (_, reply) => {
    const { call } = await downloadFrom(reply, { maxAnswerBytes: content.byteLength - 1 });
    const tooLarge = { code: "answer_too_large", status: 200 };
    expect(await rejection((await call("1")).bytes())).toMatchObject(tooLarge);
    expect(await rejection((await call("1")).bytes(1000))).toMatchObject(tooLarge);
    expect((await (await call("1")).bytes(content.byteLength)).byteLength).toBe(content.byteLength);
  });

  const notSizes = [Number.NaN, -1, "10", null];
  test.each(notSizes)("a download of at most %s bytes is refused, and can still be read", async (max) => {
    const { call } = await downloadFrom(whole);
    const file = await call("1");
    expect(await rejection(file.bytes(max as number))).toMatchObject({ code: "invalid_argument" });
    expect(await file.bytes(Infinity)).toHaveLength(content.byteLength);
  });

  test("a download that is cancelled closes its connection, leaves no listener and cannot be read", async () => {
    let closed = false;
    const { call } = await downloadFrom((response) => {
      response.on("close", () => (closed = true));
      response.writeHead(200).write("x");
    });
    const { signal } = new AbortController();
    for (const read of [false, true]) {
      closed = false;
      const file = await call("1", { signal });
      expect(getEventListeners(signal, "abort")).toHaveLength(1);
      if (read) await file.stream().getReader().read();
      file.cancel();
      file.cancel();
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
      expect(await rejection(file.bytes())).toMatchObject({ code: "invalid_argument" });
      await expect.poll(() => closed).toBe(true);
    }
  });

  test("a download can be read as a stream, and only once", async () => {
    const { call } = await downloadFrom(whole);
    const file = await call("1");
    const stream = file.stream();
    for (const again of [() => file.stream(), () => file.bytes(), () => file.saveTo("/nowhere")]) {
      await expect((async () => again())()).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(Buffer.compare(Buffer.from(await new Response(stream).arrayBuffer()), content)).toBe(0);
  });

  test("a download is retried until its answer begins", async () => {
    const { call, server } = await downloadFrom([{ status: 503 }, whole], { clock: fastClock() });
    expect((await (await call("1")).bytes()).byteLength).toBe(content.byteLength);
    expect(server.received).toHaveLength(2);
  });

  test("a download that breaks off rejects", async () => {
    const { call } = await downloadFrom(cut);
    const broken = { name: "NoAnswerError", reason: "connection" };
    expect(await rejection((await call("1")).bytes())).toMatchObject(broken);
  });

  test("a download may take longer than the time-out, but not one of its stretches", async () => {
    const clock = fakeClock();
    let write = (): void => {};
    const { call } = await downloadFrom(
      (response) => {
        response.writeHead(200);
        response.flushHeaders();
        write = () => void response.write(some(10));
      },
      { clock, timeoutMs: 1_000 },
    );
    const reader = (await call("1")).stream().getReader();
    for (let count = 0; count < 3; count += 1) {
      // The caller's own time does not count.
      await clock.advance(5_000);
      const next = reader.read();
      await clock.advance(900);
      write();
      expect(await next).toMatchObject({ done: false });
    }
    const last = rejection(reader.read());
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(1_000);
    expect(await last).toMatchObject({ name: "NoAnswerError", reason: "timeout" });
    expect(clock.pendingTimers).toBe(0);
  });

  test("a download ends when its signal is aborted, and leaves no listener", async () => {
    const { call } = await downloadFrom((response) => void response.writeHead(200).write("x"));
    const controller = new AbortController();
    const reader = (await call("1", { signal: controller.signal })).stream().getReader();
    await reader.read();
    const next = rejection(reader.read());
    controller.abort("enough");
    expect(await next).toBe("enough");
  });
});

describe("saving a download", () => {
  test.each([
    ["its name", "a.png"],
    ["a name as long as the disk allows", `${"n".repeat(251)}.png`],
  ])("saving a download writes the whole file under %s, in place of another one", async (_, name) => {
    const path = join(makeFolder(), name);
    writeFileSync(path, "old");
    const { call } = await downloadFrom(whole);
    expect(await (await call("1")).saveTo(path)).toEqual({ bytes: content.byteLength });
    expect(Buffer.compare(readFileSync(path), content)).toBe(0);
    expect(readdirSync(join(path, ".."))).toEqual([name]);
  });

  test("saving a download leaves the bytes of a fetch of the user's own as they are", async () => {
    const path = join(makeFolder(), "a.png");
    const own = some(1_000);
    const fetch: FetchFunction = async () =>
      new Response(new ReadableStream({ start: (stream) => (stream.enqueue(own), stream.close()) }));
    const call = callOf(DOWNLOAD, { apiKey: API_KEY, baseUrl: "https://api.example", fetch }) as Call<typeof DOWNLOAD>;
    for (let count = 0; count < 2; count += 1) await (await call("1")).saveTo(path);
    expect(Buffer.compare(readFileSync(path), own)).toBe(0);
  });

  test("saving a download that breaks off leaves the old file, and no part of the new one", async () => {
    const path = join(makeFolder(), "a.png");
    writeFileSync(path, "old");
    const { call } = await downloadFrom(cut);
    expect(await rejection((await call("1")).saveTo(path))).toMatchObject({ code: "no_answer" });
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(join(path, ".."))).toEqual(["a.png"]);
  });

  test("saving a download where no file can be made rejects with an error that names the file", async () => {
    const path = join(makeFolder(), "none", "a.png");
    const { call } = await downloadFrom(whole);
    const message = `ENOENT: no such file or directory, open '${path}'`;
    expect(await rejection((await call("1")).saveTo(path))).toMatchObject({ code: "ENOENT", path, message });
  });
});

test.each([
  [`attachment; filename="a b.pdf"`, "a b.pdf"],
  [`attachment; filename=a.pdf; x=y`, "a.pdf"],
  [`inline; filename="say \\"hi\\".txt"`, `say "hi".txt`],
  [`attachment; filename="fallback.txt"; filename*=UTF-8''%C3%BCber%20uns.txt`, "über uns.txt"],
  [`attachment; filename*=UTF-8''%ZZ; filename="b.txt"`, "b.txt"],
  [`attachment; filename="../../etc/passwd"`, "passwd"],
  [`attachment; filename*=utf-8''..%2F..%5Cx.exe`, "x.exe"],
  [`attachment; filename="a\u0000b\u001f.txt"`, "a_b_.txt"],
  [`attachment; filename=".."`, undefined],
  [`attachment; filename="a/"`, undefined],
  [`attachment; filename=""`, undefined],
  [`attachment`, undefined],
  [null, undefined],
])("the name of a file is read from %j as %j", (header, name) => {
  expect(readFileName(header)).toBe(name);
});
