import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import type { Clock } from "#pigeonhole/base/clock.js";
import { EVENT_LIMITS } from "#pigeonhole/contract/contact-event.js";
import { CONTRACT } from "#pigeonhole/contract/contract.js";
import type { Operation, Resource } from "#pigeonhole/contract/operation.js";
import { SCOPES } from "#pigeonhole/contract/scopes.js";
import type { ApiHandlers } from "#pigeonhole/sandbox/api/api-handlers.js";
import { ApiKeyRegistry } from "#pigeonhole/sandbox/access/api-key-registry.js";
import { createMakeId } from "#pigeonhole/sandbox/api/make-id.js";
import { answerNode, createApiFetch } from "#pigeonhole/sandbox/calls/request-handler.js";
import { Api, type SandboxApiOptions } from "#pigeonhole/sandbox/calls/create-api.js";
import { AddressBook, type ContactInput } from "#pigeonhole/sandbox/contact-events/address-book.js";
import {
  type ContactEventStoreOptions,
  ContactEventStore,
} from "#pigeonhole/sandbox/contact-events/contact-event-store.js";
import { listen } from "../../support/listen.js";

export const LIVE_KEY = "svc_live_sandbox0123456789";
export const TEST_KEY = "svc_live_sandboxtest456789";
export const NOW = Date.UTC(2026, 5, 1, 12);
export const ADA = { id: "65b8f0a2c4d6e8f0089abcde", email: "Ada@Customer.example.com", name: "Ada" };
export const EVENT = { name: "order.shipped", email: ADA.email };

export const DAY = 86_400_000;
export const iso = (ms: number): string => new Date(ms).toISOString();
export const keyed = (key: string) => ({ "idempotency-key": key });
/** Ids of the rows of an answer. */
export const ids = (rows: unknown): unknown[] => (rows as { id: string }[]).map(({ id }) => id);

/** A clock that stands until the test sets it. */
export class StillClock implements Clock {
  nowMs = NOW;
  now(): number {
    return this.nowMs;
  }
  setTimer(): never {
    throw new Error("Nothing here should wait.");
  }
}

/** Answers each operation with an empty object, or a file. */
const emptyHandlers = Object.fromEntries(
  Object.entries(CONTRACT).map(([resource, operations]) => [
    resource,
    Object.fromEntries(
      Object.entries<Operation>(operations as Resource).map(([name, { downloads }]) => [
        name,
        () => (downloads === true ? new Uint8Array(3) : {}),
      ]),
    ),
  ]),
) as unknown as ApiHandlers;

/** What {@link createTestApi} takes beside the options of the API. */
interface TestApiOptions extends Partial<SandboxApiOptions> {
  contacts?: readonly ContactInput[];
  automations?: ContactEventStoreOptions["automations"];
}

/** An API with a store of contact events behind it, on a clock that stands. */
export function createTestApi({ contacts = [ADA], automations = [], ...options }: TestApiOptions = {}) {
  const clock = options.clock ?? new StillClock();
  const makeId = createMakeId("test");
  const book = new AddressBook({ clock, makeId, contacts });
  const store = new ContactEventStore({ clock, makeId, book, automations });
  const keys =
    options.keys ??
    new ApiKeyRegistry([
      { token: LIVE_KEY, scopes: SCOPES },
      { token: TEST_KEY, mode: "test" },
    ]);
  const api = new Api({
    handlers: { ...emptyHandlers, contactEvents: store.handlers },
    eventsPerMinute: EVENT_LIMITS.eventsPerMinute,
    onError: (error) => {
      throw error;
    },
    ...options,
    keys,
    clock,
    callerClock: clock,
  });
  const fetch = createApiFetch(api);
  return { clock, store, book, keys, api, fetch, call: callerOf(fetch), ...optionsFor(fetch) };
}

function optionsFor(fetch: ReturnType<typeof createApiFetch>) {
  return { clientOptions: { apiKey: LIVE_KEY, baseUrl: "http://localhost", fetch } };
}

export interface CallInit {
  /** Null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Bytes and texts are sent as they are, anything else as JSON. */
  body?: unknown;
}

export interface Called {
  status: number;
  headers: Headers;
  // What the tests look into.
  body: Record<string, unknown>;
}

/** Sends `POST /events` and so on, and reads the answer. */
export function callerOf(send: (url: string, init: RequestInit) => Promise<Response>, baseUrl = "http://localhost") {
  return async (line: string, init: CallInit = {}): Promise<Called> => {
    const [method = "", path = ""] = line.split(" ");
    const { key = LIVE_KEY, headers = {}, body } = init;
    const isReady = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const content = isReady ? (body as RequestInit["body"]) : JSON.stringify(body);
    const response = await send(baseUrl + path, {
      method,
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
      ...(content === undefined ? {} : { body: content }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: response.headers.get("content-type")?.startsWith("application/json")
        ? ((await response.json()) as Record<string, unknown>)
        : {},
    };
  };
}

/** The API on a free port of this machine, for one test. */
export async function listenTo(api: Api) {
  const server = createServer((req, res) => answerNode(api, req, res));
  const port = await listen(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  return { baseUrl, port, call: callerOf((url, init) => fetch(url, init), baseUrl) };
}

/** "201", or status, code and param of the error. */
export function verdict({ status, body }: Called): string {
  if (status < 400) return String(status);
  return [String(status), body["code"] as string, body["param"] as string | undefined]
    .filter((part) => part !== undefined)
    .join(" ");
}
