import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { Credential } from "#pigeonhole/client/credential.js";
import { createClient } from "#pigeonhole/client.js";
import { type Reply, startApi, startRawApi } from "./api-server.js";
import { API_KEY, EVENT, WEBHOOK_ID, WITH_SECRET, clientOf, rejection } from "./support.js";
import type { FetchFunction } from "#pigeonhole/client/attempt.js";

const SECRET = WITH_SECRET.body.secret;

/** Everything that a program could print of a value. */
function printed(value: unknown): string {
  const error = value instanceof Error ? [value.message, value.stack, inspect(value.cause, { depth: 20 })] : [];
  const options = { depth: 20, showHidden: true, getters: true, showProxy: true };
  return [inspect(value), inspect(value, options), JSON.stringify(value), String(value), ...error].join("\n");
}

/** The service quotes what it was sent, as careless ones do. */
const echo = (status: number): Reply => {
  return (response, { headers }) => {
    const quoted = `${headers.authorization} ${String(headers["x-key"])} ${SECRET}`;
    response.writeHead(status, { "x-request-id": API_KEY, location: `https://a.example/${API_KEY}` });
    response.end(JSON.stringify({ code: `code ${API_KEY}`, message: quoted, param: quoted }));
  };
};

/** fetch of Node 24 and newer has no code for what its parser refuses; the client gives the parser's words then. */
const HAS_PARSER_CODES = Number(process.versions.node.split(".")[0]) < 24;

describe("the API key and webhook secrets", () => {
  test("the client does not show its API key", async () => {
    const server = await startApi(WITH_SECRET);
    const client = clientOf(server);
    await client.webhooks.create({ url: "https://a.example" });
    expect(printed(client)).not.toContain("canary");
    expect(printed(client.webhooks)).not.toContain("canary");
    const empty = Object.fromEntries(Object.keys(client).map((resource) => [resource, {}]));
    expect(JSON.parse(JSON.stringify({ client }))).toEqual({ client: empty });
  });

  test("the error for an answer that quotes the token of another key does not contain it", async () => {
    const message = `The key svc_live_${"0a1b".repeat(12)} was made.`;
    const server = await startApi({ status: 409, body: { code: "revoked", message } });
    const error = await rejection(clientOf(server).webhooks.get(WEBHOOK_ID));
    expect(printed(error)).not.toContain("0a1b");
    expect(error).toMatchObject({ message: expect.stringContaining("The key [api key] was made.") as string });
  });

  test.each([
    "https://files.example.com/d/shr_0a1b2c/canary.pdf?x=1",
    "shr_canary0a1b2c",
    "https://a.example/?next=shr_0a1b&x=canary",
  ])("the error for an answer that quotes the link %s to a file does not contain it", async (link) => {
    const server = await startApi({ status: 409, body: { code: "file_in_use", message: `See "${link}" first.` } });
    const error = await rejection(clientOf(server).webhooks.get(WEBHOOK_ID));
    expect(printed(error)).not.toMatch(/canary|0a1b|files\.example/);
    expect(error).toMatchObject({ message: expect.stringContaining('See "[link]" first.') as string });
  });

  test("an answer of 1 MB that begins a link again and again is read at once", async () => {
    const message = "http://".repeat(150_000);
    const server = await startApi({ status: 409, body: { code: "file_in_use", message } });
    const error = await rejection(clientOf(server).webhooks.get(WEBHOOK_ID));
    expect(error).toMatchObject({ message: expect.stringContaining(message.slice(0, 500)) as string });
  });

  test("the object that carries the API key does not show it", () => {
    const credential = new Credential(API_KEY);
    expect(printed(credential)).not.toContain("canary");
    expect(`${String(credential)} ${JSON.stringify({ credential })}`).toBe('[api key] {"credential":"[api key]"}');
    expect(credential.header()).toEqual({ authorization: `Bearer ${API_KEY}` });
  });

  const statuses = [301, 400, 401, 404, 422, 429, 500];
  test.each(statuses)("the error for a %i that quotes a secret does not contain it", async (status) => {
    const lines: string[] = [];
    const write = (...line: unknown[]) => void lines.push(printed(line));
    const logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
    const client = clientOf(await startApi(echo(status)), { logger, credential: { header: "x-key" } });
    for (const call of [client.webhooks.get(WEBHOOK_ID), client.contactEvents.send(EVENT, { idempotencyKey: "k" })]) {
      expect(printed(await rejection(call))).not.toMatch(/canary|whsec_|ada@/);
    }
    expect(lines.join("\n")).not.toMatch(/canary|whsec_|ada@/);
    if (status >= 429) expect(lines).not.toEqual([]);
  });

  test("the error for an answer that quotes a secret with JSON escapes does not contain it", async () => {
    const apiKey = "oauth.canary/with+odd&characters";
    const escape = (text: string) =>
      text.replaceAll(/./g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
    for (const quoted of [apiKey.replaceAll("/", "\\/"), escape(apiKey), escape(SECRET)]) {
      const body = `{"code":"${quoted}","message":"${quoted}","param":"${quoted}"}`;
      const server = await startApi({ status: 422, body });
      const error = await rejection(clientOf(server, { apiKey }).webhooks.get(WEBHOOK_ID));
      expect(error).toMatchObject({ status: 422 });
      expect(printed(error)).not.toMatch(/canary|whsec_|abcdef|example0/);
    }
  });

  test.each([
    [
      "that is no HTTP",
      (text: string) => `${text}\r\n\r\n`,
      HAS_PARSER_CODES ? /\(HPE_INVALID_CONSTANT\)/ : /\(Expected HTTP\/.*\)/,
    ],
    [
      "with two lengths",
      (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n${text}`,
      // Newer parsers take the last length, of which this answer is longer.
      /\((?:HPE_UNEXPECTED_CONTENT_LENGTH|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)\)/,
    ],
    [
      "with a broken chunk",
      (text: string) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZ${text}\r\n`,
      HAS_PARSER_CODES ? /\(HPE_INVALID_CHUNK_SIZE\)/ : /\(Invalid character in chunk size\)/,
    ],
  ])(
    "the cause of the error for an answer %s does not contain a secret, and the message says why it failed",
    async (_, write, reason) => {
      const server = await startRawApi(write(`${SECRET} ${API_KEY} ${EVENT.email}`));
      const error = await rejection(clientOf(server, { maxRetries: 0 }).webhooks.rotateSecret(WEBHOOK_ID));
      expect(error).toMatchObject({ code: "no_answer", reason: "connection", mayHaveArrived: true });
      expect((error as Error).message).toMatch(reason);
      expect(printed(error)).not.toMatch(/canary|whsec_|ada@/);
    },
  );

  test("errors of other realms are searched for secrets, and keep their code", async () => {
    const thrown = runInNewContext(`Object.assign(new Error("${API_KEY}"), { code: "ECONNREFUSED" })`) as Error;
    const fetch = () => Promise.reject(thrown);
    const client = createClient({ apiKey: API_KEY, baseUrl: "https://api.example", fetch });
    const error = await client.contactEvents.send(EVENT).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ mayHaveArrived: false, cause: { message: "[api key]", code: "ECONNREFUSED" } });
  });

  test("the cause of the error contains no secret if a custom fetch puts the request into its errors", async () => {
    const fetch: FetchFunction = (_, init) =>
      Promise.reject(Object.assign(new Error(`Failed with ${API_KEY}.`), { config: init, code: "ERR_OWN" }));
    const error = await rejection(clientOf({ baseUrl: "https://api.example" }, { fetch }).contactEvents.send(EVENT));
    expect(printed(error)).not.toMatch(/canary|whsec_|ada@/);
    expect((error as Error).cause).toMatchObject({ message: "Failed with [api key].", code: "ERR_OWN" });
  });

  test("the error for an answer that cannot be read contains no secret", async () => {
    for (const body of [`not JSON ${SECRET} ${API_KEY}`, { secret: SECRET, url: API_KEY }]) {
      const client = clientOf(await startApi({ body }));
      expect(printed(await rejection(client.webhooks.rotateSecret(WEBHOOK_ID)))).not.toMatch(/canary|whsec_/);
    }
  });

  test("the error for wrong input contains no secret", async () => {
    const client = clientOf({ baseUrl: "https://api.example" });
    const inputs = [
      client.webhooks.get(API_KEY),
      client.contactEvents.send({ ...EVENT, name: `!${API_KEY}` }),
      client.contactEvents.send(EVENT, { idempotencyKey: `${SECRET} ` }),
      client.webhooks.create({ url: `http://${API_KEY}` }),
    ];
    for (const call of inputs) expect(printed(await rejection(call))).not.toMatch(/canary|whsec_/);
  });
});
