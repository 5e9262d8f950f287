import { describe, expect, test } from "vitest";
import { errorCodesOf } from "#pigeonhole/contract/error-codes-of.js";
import { checkCallInput } from "#pigeonhole/contract/check-call-input.js";
import type { Operation } from "#pigeonhole/contract/operation.js";
import { decodeQueryText } from "#pigeonhole/contract/query-text.js";
import { type Called, verdict } from "../api/support.js";
import { HALF_CHARACTER, type HostileRequest, LONG_TEXT, RAW, hostileRequests } from "./hostile-requests.js";
import { BEFORE, MAKERS, UNLIMITED, exampleWorkspace } from "./operation-cases.js";
import { ALL_ROWS, type CallRow, SUPPORT, type World, openWorld, requestOf, stateOf } from "./support.js";

/** Codes that any operation may answer with. */
const COMMON = [
  "unauthorized",
  "invalid_parameter",
  "unknown_parameter",
  "resource_not_found",
  "request_too_large",
  "method_not_allowed",
];

/** A workspace that has what the example of a row speaks of, and the ids of it. */
async function openFor({ call, resource }: CallRow) {
  const world = openWorld(exampleWorkspace());
  const { client } = world;
  const made = await MAKERS[resource](client);
  return { world, ids: { ...made, ...(await BEFORE[call]?.(client, made, world.sandbox)) } };
}

/** Sends a request again later when there were too many. */
async function send(world: World, operation: Operation, request: HostileRequest): Promise<Called> {
  const { line, init } = requestOf(operation, request);
  const url = line.replace(RAW, request.raw ?? RAW);
  const answer = await world.send(url, init);
  if (answer.status !== 429) return answer;
  await world.sandbox.advance(600_000);
  return world.send(url, init);
}

/** True when what the row says of its input has room for the request. */
function isOfRow({ operation, call }: CallRow, request: HostileRequest, answer: Called): boolean {
  const { body, query } = operation;
  // A bad event of a batch fails alone.
  if (operation.events === "each" && (answer.body["failed"] as unknown[]).length > 0) return true;
  if (request.name.endsWith(LONG_TEXT)) return UNLIMITED.includes(`${call} ${request.field ?? ""}`);
  if (request.params !== undefined) {
    // The URL of another row, once its dot is resolved, or an id that any text can be.
    return operation.method === "GET" || operation.credential === "none";
  }
  if (request.query !== undefined && query !== undefined) {
    const texts = Object.entries(request.query).map(([name, text]) => {
      const sent = text === RAW ? new URLSearchParams(`x=${request.raw ?? ""}`).get("x") : String(text);
      return [name, decodeQueryText(query.shape[name], sent ?? "")] as const;
    });
    return checkCallInput(operation, query, { ...operation.example.query, ...Object.fromEntries(texts) }).ok;
  }
  // No body is one without any field.
  const sent = typeof request.body === "string" ? (JSON.parse(request.body || "{}") as unknown) : request.body;
  return body !== undefined && checkCallInput(operation, body, sent).ok;
}

const MAX_REQUESTS = 40;

/** The requests of a row, so few in a part that it takes no long. */
function inParts(row: CallRow) {
  const requests = [...hostileRequests(row.operation)];
  const starts = Array.from({ length: Math.ceil(requests.length / MAX_REQUESTS) }, (_, part) => part * MAX_REQUESTS);
  return starts.map((at, part) => ({ ...row, part: part + 1, requests: requests.slice(at, at + MAX_REQUESTS) }));
}

describe("bad input", () => {
  test.each(ALL_ROWS.flatMap(inParts))(
    "bad input of $call is refused with a documented error, and then nothing is stored ($part)",
    async ({ requests, ...row }) => {
      const { operation, call } = row;
      let { world, ids } = await openFor(row);
      for (const request of requests) {
        const { name, field } = request;
        const before = JSON.stringify(stateOf(world));
        const answer = await send(world, operation, { ...request, params: { ...ids, ...request.params } });
        if (name.endsWith(HALF_CHARACTER) && operation.events === undefined) {
          const codes = ["invalid_parameter", "invalid_webhook_url", "invalid_form_submission"];
          const expected = [...codes.map((code) => `422 ${code}`), "400 mailbox_address_invalid"];
          expect(expected, name).toContain(`${answer.status} ${String(answer.body["code"])}`);
        }
        if (answer.status < 400) {
          expect(isOfRow(row, request, answer), `${call} ${name}`).toBe(true);
          if (request.params === undefined)
            expect(operation.result?.safeParse(answer.body).error, name).toBeUndefined();
          // What was stored would hide what comes after, such as behind a name that is taken.
          if (operation.method !== "GET") ({ world, ids } = await openFor(row));
          continue;
        }
        const { code } = answer.body as { code: string };
        expect([...errorCodesOf(operation), ...COMMON], `${name}: ${verdict(answer)} ${field ?? ""}`).toContain(code);
        expect(JSON.stringify(stateOf(world)), name).toBe(before);
      }
      expect(({} as { a?: number }).a).toBeUndefined();
    },
  );

  test("bodies that begin a tag again and again are stored and searched at once", async () => {
    const { send: call } = openWorld();
    const html = "<".repeat(149_000);
    const answers = [
      await call("POST /signatures", { body: { address: SUPPORT, name: "Work", html } }),
      await call("POST /drafts", { body: { html: html.repeat(4), text: "" } }),
      await call("GET /drafts"),
      await call("GET /drafts?query=x"),
    ];
    expect(answers.map(verdict)).toEqual(["201", "201", "200", "200"]);
  });
});
