import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  InvalidInputError,
  InvalidRequestError,
  NoAnswerError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from "#pigeonhole/client.js";
import { PigeonholeError, isPigeonholeError } from "pigeonhole";
import { type Reply, startApi } from "./api-server.js";
import { ENDPOINT, EVENT, SENT, WEBHOOK_ID, clientOf, rejection } from "./support.js";

async function errorFor(reply: Reply, options: { maxAnswerBytes?: number; requestIdHeader?: string } = {}) {
  const server = await startApi(reply);
  const error = await rejection(clientOf(server, { maxRetries: 0, ...options }).webhooks.get(WEBHOOK_ID));
  return { error: error as ApiError, requests: server.received.length };
}

describe("errors of the API", () => {
  test.each([
    [400, InvalidRequestError, "InvalidRequestError"],
    [401, AuthenticationError, "AuthenticationError"],
    [402, ApiError, "ApiError"],
    [403, PermissionError, "PermissionError"],
    [404, NotFoundError, "NotFoundError"],
    [405, ApiError, "ApiError"],
    [408, ApiError, "ApiError"],
    [409, ConflictError, "ConflictError"],
    [410, ApiError, "ApiError"],
    [413, ApiError, "ApiError"],
    [422, InvalidRequestError, "InvalidRequestError"],
    [425, ApiError, "ApiError"],
    [429, RateLimitError, "RateLimitError"],
    [500, ServerError, "ServerError"],
    [503, ServerError, "ServerError"],
    [599, ServerError, "ServerError"],
  ])("an answer with status %i rejects with a %o", async (status, type, name) => {
    const { error } = await errorFor({ status, body: { code: "some_code", message: "Some message.", param: "a.b" } });
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toBeInstanceOf(PigeonholeError);
    expect(error.constructor).toBe(type);
    expect(error).toMatchObject({ name, status, code: "some_code", param: "a.b", requestId: undefined });
    expect(error.retryable).toBe([408, 425, 429, 500, 503, 599].includes(status));
    expect(error.message).toBe(`webhooks.get: Some message. (HTTP ${status}, some_code, param a.b)`);
  });

  test.each<[string, unknown, object]>([
    ["at the top", { code: "invalid_event", message: "No.", param: "name" }, { code: "invalid_event", param: "name" }],
    ["under error", { error: { code: "invalid_event", param: "name" } }, { code: "invalid_event", param: "name" }],
    ["with nothing but a code", { code: "role_in_use" }, { code: "role_in_use", param: undefined }],
    ["with a code that no list has", { code: "brand_new" }, { code: "brand_new" }],
    ["without a code", { message: "No." }, { code: "unknown_error" }],
    ["with a code that is no text", { code: 7, param: {} }, { code: "unknown_error", param: undefined }],
    ["with error as text", { error: "No." }, { code: "unknown_error" }],
    ["that is a list", [], { code: "unknown_error" }],
    ["that is null", "null", { code: "unknown_error" }],
    ["that is HTML", "<h1>Bad gateway</h1>", { code: "invalid_answer" }],
    ["that is empty", "", { code: "invalid_answer" }],
  ])("an error reads a body %s", async (_, body, expected) => {
    for (const status of [422, 502]) {
      const { error } = await errorFor({ status, body });
      expect(error).toMatchObject({ status, ...expected });
      expect(error).toBeInstanceOf(status === 422 ? InvalidRequestError : ServerError);
    }
  });

  test("an error names the request by the header of the option", async () => {
    const headers = { "x-request-id": "req_1", "svc-request": "req_2" };
    const reply = { status: 404, body: { code: "resource_not_found" }, headers };
    const { error } = await errorFor(reply);
    expect(error.requestId).toBe("req_1");
    expect(error.message).toContain("request req_1");
    expect((await errorFor(reply, { requestIdHeader: "Svc-Request" })).error.requestId).toBe("req_2");
  });

  test("an error of a busy API says how long to wait", async () => {
    const body = { code: "event_rate_limited" };
    const { error } = await errorFor({ status: 429, body, headers: { "retry-after": "12" } });
    expect(error).toMatchObject({ code: "event_rate_limited", retryAfterMs: 12_000 });
  });

  test("an error cuts a long message, a long code and a long param", async () => {
    const long = "c".repeat(100_000);
    const { error } = await errorFor({ status: 422, body: { code: long, message: long, param: long } });
    expect([error.code.length, error.param?.length]).toEqual([500, 500]);
    expect(error.message.length).toBeLessThan(1_600);
  });

  test("an error of the API is also an error of the package", async () => {
    const server = await startApi(SENT);
    const invalid = await rejection(clientOf(server).contactEvents.send({ ...EVENT, name: "" }));
    expect(invalid).toBeInstanceOf(InvalidInputError);
    expect(invalid).toMatchObject({ retryable: false });
    expect(isPigeonholeError(invalid)).toBe(true);
    const lost = { call: "x", reason: "timeout", mayHaveArrived: true, message: "m", cause: undefined } as const;
    expect(isPigeonholeError(new NoAnswerError(lost), "no_answer")).toBe(true);
  });
});

test.each([301, 302, 303, 307, 308, 304])("a redirect %i is not followed", async (status) => {
  const other = await startApi(ENDPOINT);
  const location = `${other.baseUrl}/webhooks`;
  const { error, requests } = await errorFor({ status, body: "", headers: { location } });
  expect(error).toMatchObject({ status, code: "redirect_refused" });
  expect([requests, other.received]).toEqual([1, []]);
});

describe("an answer that cannot be used", () => {
  test.each<[string, Reply]>([
    ["no JSON", { body: "<html>" }],
    ["empty", { body: "" }],
    ["not what the operation gives", { body: [] }],
    ["without the id", { body: { url: "https://a.example" } }],
    ["cut", { body: '{"id":' }],
    ["of 101 levels", { body: `{"id":"${WEBHOOK_ID}","x":${"[".repeat(100)}${"]".repeat(100)}}` }],
  ])("an answer that is %s rejects with an ApiError that says that the call took effect", async (_, reply) => {
    const { error } = await errorFor(reply);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 200, code: "invalid_answer" });
  });

  test("a call whose answer cannot be used is not sent again", async () => {
    const server = await startApi({ body: "<html>" }, ENDPOINT);
    await rejection(clientOf(server).webhooks.get(WEBHOOK_ID));
    expect(server.received).toHaveLength(1);
  });

  test("an answer may have 100 levels, and any signs in its texts", async () => {
    const texts = JSON.stringify(`\\"${"[".repeat(200)}`);
    const deep = `${"[".repeat(99)}${texts}${"]".repeat(99)}`;
    const server = await startApi({ body: `{"id":"${WEBHOOK_ID}","x":${deep},"y":[{}],"z":{}}` });
    expect(await clientOf(server).webhooks.get(WEBHOOK_ID)).toMatchObject({ id: WEBHOOK_ID, z: {} });
  });

  const padded = (bytes: number) => {
    const text = JSON.stringify({ id: WEBHOOK_ID, pad: "" });
    return JSON.stringify({ id: WEBHOOK_ID, pad: "x".repeat(bytes - text.length) });
  };

  test.each([
    [999, true],
    [1_000, true],
    [1_001, false],
  ])("an answer of %i bytes is within a limit of 1,000 bytes: %s", async (bytes, fits) => {
    const server = await startApi({ body: padded(bytes) });
    const got = clientOf(server, { maxAnswerBytes: 1_000 }).webhooks.get(WEBHOOK_ID);
    if (fits) expect(await got).toMatchObject({ id: WEBHOOK_ID });
    else expect(await rejection(got)).toMatchObject({ code: "answer_too_large", status: 200 });
  });

  test("an answer of more than 5 MiB is refused by default without waiting for the rest", async () => {
    let closed = false;
    const { error } = await errorFor((response) => {
      response.writeHead(200);
      const chunk = "x".repeat(1024 * 1024);
      const pour = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour);
      response.on("close", () => (closed = true));
      pour();
    });
    expect(error).toMatchObject({ code: "answer_too_large" });
    await expect.poll(() => closed).toBe(true);
  });

  test("an answer that is compressed may not expand to more than the limit", async () => {
    const body = gzipSync(padded(10_000_000));
    expect(body.length).toBeLessThan(20_000);
    const { error } = await errorFor((response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(body);
    });
    expect(error).toMatchObject({ code: "answer_too_large" });
  });

  test("an error answer that cannot be used keeps its error class", async () => {
    const { error } = await errorFor({ status: 500, body: padded(2_000) }, { maxAnswerBytes: 1_000 });
    expect(error).toBeInstanceOf(ServerError);
    expect(error.code).toBe("answer_too_large");
  });
});
