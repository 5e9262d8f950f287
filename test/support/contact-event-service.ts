import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { closeServer, listen } from "./listen.js";
import { readText } from "./read-body.js";

// Written from docs/service.md#contact-event-api and not from src: a service that shared the sender's rules
// would share its mistakes.

/**
 * What goes wrong with one request. `lost`: everything is stored and no answer comes; `held` too, and the connection
 * stays open. `forgetful`: everything is stored, and the answer leaves out the last event. A status with its error:
 * nothing is stored; with `html` another server than the service answers.
 */
export type Fault =
  | "lost"
  | "held"
  | "forgetful"
  | { status: number; retryAfter?: string; code?: string; param?: string; html?: string };

export interface SentEvent extends Record<string, unknown> {
  name: string;
  email?: string;
  contactId?: string;
  properties?: Record<string, unknown>;
  occurredAt?: string;
}

export interface StoredEvent {
  id: string;
  event: SentEvent;
}

/** One request as it came in. */
export interface SeenCall {
  path: string;
  key: string;
  authorization: string;
  body: string;
  fault: Fault | undefined;
}

type Result = { ok: true; stored: StoredEvent; replayed: boolean } | { ok: false; code: string };

/** The part of the service that takes contact events, on a port of this machine. */
export interface ContactEventService {
  readonly baseUrl: string;
  /** Every event stored, in order. */
  readonly stored: readonly StoredEvent[];
  readonly calls: readonly SeenCall[];
  /** Code of each event refused so far. */
  readonly refused: readonly string[];
  /** Faults of the next requests, first to last; undefined is none. */
  readonly faults: (Fault | undefined)[];
  /** Fault of a request, by its body, when `faults` is empty. */
  faultOf: (body: string) => Fault | undefined;
  /** Code with which an event is refused, if it is. */
  ruleOf: (event: SentEvent) => string | undefined;
  /** Addresses that begin with "nobody" and are contacts all the same. */
  readonly contacts: Set<string>;
  close(): Promise<void>;
}

/** What the service knows of contact events, and what it answers. */
export interface ContactEventMemory {
  readonly stored: readonly StoredEvent[];
  readonly refused: readonly string[];
  ruleOf: (event: SentEvent) => string | undefined;
  readonly contacts: Set<string>;
  /** Takes a call and gives the status and the body of the answer. */
  route(path: string, key: string, body: string): [number, unknown];
}

export function createContactEventMemory(): ContactEventMemory {
  const stored: StoredEvent[] = [];
  const refused: string[] = [];
  const contacts = new Set<string>();
  const remembered = new Map<string, StoredEvent>();

  /** One event under its key; in a batch that is the key and the position. */
  function take(slot: string, event: SentEvent): Result {
    const known = remembered.get(slot);
    if (known !== undefined) {
      if (isDeepStrictEqual(known.event, event)) return { ok: true, stored: known, replayed: true };
      return refuse("idempotency_key_reuse");
    }
    const broken = memory.ruleOf(event);
    if (broken !== undefined) return refuse(broken);
    const email = event.email ?? "";
    if (email.startsWith("nobody") && !contacts.has(email)) return refuse("contact_not_found");
    const fresh = { id: `cev_${stored.length + 1}`, event };
    stored.push(fresh);
    remembered.set(slot, fresh);
    return { ok: true, stored: fresh, replayed: false };
  }

  function refuse(code: string): Result {
    refused.push(code);
    return { ok: false, code };
  }

  function takeOne(key: string, event: SentEvent): [number, unknown] {
    const result = take(`one ${key}`, event);
    if (result.ok) return [result.replayed ? 200 : 201, resultOf(result.stored, result.replayed)];
    return [result.code === "contact_not_found" ? 404 : 422, errorBodyOf(result.code)];
  }

  function takeBatch(key: string, events: readonly SentEvent[]): [number, unknown] {
    if (events.length === 0 || events.length > 100) return [422, errorBodyOf("invalid_parameter")];
    const accepted: unknown[] = [];
    const failed: unknown[] = [];
    for (const [index, event] of events.entries()) {
      const result = take(`batch ${key} ${index}`, event);
      if (result.ok) accepted.push({ ...resultOf(result.stored, result.replayed), index });
      else failed.push({ index, ...errorBodyOf(result.code) });
    }
    return [200, { object: "contact_event_batch", accepted, failed }];
  }

  function route(path: string, key: string, body: string): [number, unknown] {
    if (!/^[A-Za-z0-9_.:-]{1,255}$/.test(key)) return [400, errorBodyOf("invalid_idempotency_key")];
    const parsed: unknown = JSON.parse(body);
    if (path === "/v1/events") return takeOne(key, parsed as SentEvent);
    if (path === "/v1/events/batch") return takeBatch(key, (parsed as { events: SentEvent[] }).events);
    return [404, errorBodyOf("resource_not_found")];
  }

  const memory: ContactEventMemory = {
    stored,
    refused,
    contacts,
    ruleOf: () => undefined,
    route,
  };
  return memory;
}

export async function startContactEventService(): Promise<ContactEventService> {
  const memory = createContactEventMemory();
  const calls: SeenCall[] = [];
  const faults: (Fault | undefined)[] = [];
  const service = {
    ...memory,
    get ruleOf() {
      return memory.ruleOf;
    },
    set ruleOf(rule) {
      memory.ruleOf = rule;
    },
    calls,
    faults,
    faultOf: (_body: string): Fault | undefined => undefined,
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    const key = String(request.headers["idempotency-key"] ?? "");
    const path = request.url ?? "";
    const fault = faults.length > 0 ? faults.shift() : service.faultOf(body);
    calls.push({ path, key, authorization: request.headers.authorization ?? "", body, fault });
    if (typeof fault === "object") {
      const { status, retryAfter, code = `fault_${status}`, param, html } = fault;
      response.writeHead(status, {
        "content-type": "application/json",
        ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
      });
      response.end(html ?? JSON.stringify({ ...errorBodyOf(code), param }));
      return;
    }
    const [status, result] = memory.route(path, key, body);
    if (fault === "held") return;
    if (fault === "forgetful") (result as { accepted: unknown[] }).accepted.pop();
    if (fault === "lost") {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(result));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  const port = await listen(server);
  return Object.assign(service, {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () => closeServer(server),
  });
}

function resultOf({ id, event }: StoredEvent, replayed: boolean): object {
  const { name, email = null, contactId = "ctc_1", properties = {}, occurredAt = "2026-01-01T00:00:00Z" } = event;
  const createdAt = "2026-01-01T00:00:00Z";
  return {
    object: "contact_event",
    id,
    contactId,
    email,
    name,
    properties,
    occurredAt,
    createdAt,
    mode: "test",
    replayed,
    enrolled: [],
    resumed: 0,
  };
}

function errorBodyOf(code: string): { code: string; message: string } {
  return { code, message: `The service says ${code}.` };
}
