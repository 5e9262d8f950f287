import type { Changes } from "../../base/options.js";
import type { Clock } from "../../base/clock.js";
import { MINUTE } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { sleep } from "../../base/wait.js";
import { type BoundOperation, type PathOverrides, bindOperations } from "../../contract/bind-operations.js";
import { countEvents } from "../../contract/count-events.js";
import { type CredentialShape, resolveCredentialShape } from "../../contract/credential-shape.js";
import type { KeyLog } from "../access/key-log.js";
import type { ApiFaults, InjectedFault } from "./api-faults.js";
import {
  type ApiAnswer,
  type ApiCall,
  type ApiHandler,
  type ApiHandlers,
  type Caller,
  SandboxApiError,
  SpecialAnswer,
} from "../api/api-handlers.js";
import type { ApiKeyRegistry } from "../access/api-key-registry.js";
import { type IncomingCall, checkEntry, checkInputOf } from "./checks.js";
import { SlidingLimit } from "../api/sliding-limit.js";
import { type OperationMatch, createRoutes, matchRoute } from "./match-route.js";

export interface SandboxApiOptions {
  handlers: ApiHandlers;
  keys: ApiKeyRegistry;
  /** The time of the workspace. */
  clock: Clock;
  /** The time of the callers: `occurredAt`, the rate of events and waits belong to it. */
  callerClock: Clock;
  /** Injected faults. @default none */
  faults?: ApiFaults | undefined;
  /** Events a minute for each key. */
  eventsPerMinute: number;
  /** Answers a path that is that of a link. @default none is */
  openLink?: ((path: string) => object | undefined) | undefined;
  /** Other paths, as for createClient. @default those of the contract */
  paths?: PathOverrides | undefined;
  /** Replaces a row of the contract, such as with a more lenient schema. @default no change */
  adaptRow?: ((bound: BoundOperation) => BoundOperation) | undefined;
  /** How the key is sent, as for createClient. @default `Authorization: Bearer <key>` */
  credential?: Changes<CredentialShape> | undefined;
  /** Called for every call once it is answered. */
  onCall?: ((call: ApiCallEntry) => void) | undefined;
  /** Called with any other error of a handler than a SandboxApiError: a bug, answered 500. @default none */
  onError?: ((error: unknown) => void) | undefined;
}

/** Largest JSON body, in bytes. */
export const MAX_JSON_BYTES = 2 * 1024 * 1024;

/** A request over any transport. */
export interface ApiRequest {
  method: string;
  /** Path and query, as on the request line. */
  url: string;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
  /** The network address of the caller. @default none, for a call in this process */
  ip?: string | undefined;
}

/** A call for a log: no body, no token, and no path, which can contain an address. */
export interface ApiCallEntry {
  /** Such as `webhooks.get`; undefined when no operation has the path. */
  call: string | undefined;
  /** HTTP method. */
  method: string;
  /** Id of the API key, which does not reveal the token; undefined when no valid key was sent. */
  keyId: string | undefined;
  /** Null if no answer was given. */
  status: number | null;
  /** Code of an error answer; undefined otherwise. */
  code: string | undefined;
  /** The id that the answer carries. */
  requestId: string;
  /** The injected fault; undefined if there was none. */
  fault: InjectedFault | undefined;
}

/** What is known about a call so far. */
interface CallTrace extends Pick<ApiCallEntry, "call" | "fault"> {
  caller: Caller | undefined;
}

/** The API of the service, served from the contract. */
export class Api {
  readonly #options: SandboxApiOptions;
  readonly #shape: CredentialShape;
  readonly #routes: ReturnType<typeof createRoutes>;
  /** The limit of events a minute, for each key; for any 60 s, as the service's window is not documented. */
  readonly #rate: SlidingLimit;
  #requests = 0;

  /** Throws `invalid_option`. */
  constructor(options: SandboxApiOptions) {
    this.#options = options;
    this.#shape = resolveCredentialShape(options.credential);
    this.#routes = createRoutes(bindOperations(options.paths).map((bound) => options.adaptRow?.(bound) ?? bound));
    this.#rate = new SlidingLimit({
      max: options.eventsPerMinute,
      windowMs: MINUTE,
      code: "event_rate_limited",
      message: "Too many events for this key in a minute; nothing was stored.",
    });
  }

  /** Largest body of a request, in bytes: an upload has more than JSON. */
  bodyLimit(method: string, url: string): number {
    return limitOf(matchRoute(this.#routes, method, splitUrl(url).path));
  }

  /** Answers a request; "no_answer" means that the connection must break off. Never rejects. */
  async handle(request: ApiRequest): Promise<ApiAnswer | "no_answer"> {
    const { callerClock, keys, onCall, onError } = this.#options;
    this.#requests += 1;
    const requestId = `req_${this.#requests}`;
    const startedMs = callerClock.now();
    const trace: CallTrace = { call: undefined, fault: undefined, caller: undefined };
    const given = await this.#answer(request, trace).catch((error: unknown) => {
      if (!(error instanceof SandboxApiError)) onError?.(error);
      return errorAnswer(error);
    });
    const isAnswer = given !== "no_answer";
    const status = isAnswer ? given.status : null;
    const code = isAnswer && given.status >= 400 ? (given.body as { code: string }).code : undefined;
    const { caller, ...known } = trace;
    onCall?.({ ...known, keyId: caller?.keyId, method: request.method, status, code, requestId });
    if (caller?.kind === "key" && status !== null)
      logCall(keys.log, request, { caller, status, code, startedMs, endedMs: callerClock.now() });
    return isAnswer ? { ...given, headers: { "x-request-id": requestId, ...given.headers } } : given;
  }

  /** Resets the count of events and the number of requests. */
  reset(): void {
    this.#rate.reset();
    this.#requests = 0;
  }

  async #answer(request: ApiRequest, trace: CallTrace): Promise<ApiAnswer | "no_answer"> {
    const { openLink, keys, callerClock, faults } = this.#options;
    const { path, search } = splitUrl(request.url);
    const opened = request.method === "GET" ? openLink?.(path) : undefined;
    if (opened !== undefined) return SpecialAnswer.wholeOf(opened, 200);
    const match = matchRoute(this.#routes, request.method, path);
    const call: IncomingCall = {
      ...request,
      search,
      bytes: request.body,
      match,
      keys,
      shape: this.#shape,
      bodyLimit: limitOf(match),
      nowMs: callerClock.now(),
      known: trace,
    };
    const { bound, params } = checkEntry(call);
    trace.call = bound.call;
    trace.fault = faults?.next(bound.call);
    return applyFault(trace.fault, callerClock, () => this.#answerCall(call, bound, params));
  }

  async #answerCall(call: IncomingCall, bound: BoundOperation, params: Params): Promise<ApiAnswer> {
    const { handlers, clock } = this.#options;
    const { headers, ip, nowMs, known } = call;
    const { caller } = known;
    const { json, ...input } = checkInputOf(call, bound.operation, params);
    const events = countEvents(bound.operation, json);
    const take = (): void => {
      if (caller !== undefined && events > 0) this.#rate.take(caller.keyId, events, nowMs);
    };
    const { "content-type": contentType, referer } = headers;
    const forHandler = { ...input, caller, nowMs: clock.now(), params, contentType, referer, ip, countEvents: take };
    return handlerOf(handlers, bound)(forHandler);
  }
}

function limitOf(match: OperationMatch): number {
  return (match.kind === "found" && match.bound.operation.uploads?.maxBytes) || MAX_JSON_BYTES;
}

/** Logs a call of a key, without its body and query. See docs/service.md#key-logs. */
function logCall(
  log: KeyLog,
  { method, url, ip, headers }: ApiRequest,
  of: { caller: Caller; status: number; code: string | undefined; startedMs: number; endedMs: number },
): void {
  log.addRequest({
    keyId: of.caller.keyId,
    method,
    path: splitUrl(url).path,
    status: of.status,
    errorCode: of.code ?? null,
    durationMs: Math.max(0, of.endedMs - of.startedMs),
    ip: ip ?? null,
    userAgent: headers["user-agent"] ?? null,
  });
}

/** Runs the call with the fault. */
async function applyFault(
  fault: InjectedFault | undefined,
  clock: Clock,
  run: () => Promise<ApiAnswer>,
): Promise<ApiAnswer | "no_answer"> {
  switch (fault?.kind) {
    case undefined:
      return run();
    case "error":
      if (fault.executed === true) await run().catch(forgetFault);
      throw injectedError(fault);
    case "no_answer":
      // The real result of the call, even an error, is dropped.
      if (fault.executed) await run().catch(forgetFault);
      return "no_answer";
    case "delay": {
      const answer = await run().catch(errorAnswer);
      await sleep(clock, fault.delayMs);
      return answer;
    }
  }
}

function forgetFault(error: unknown): void {
  if (!(error instanceof SandboxApiError)) throw error;
}

function injectedError({ status, code, retryAfter }: Extract<InjectedFault, { kind: "error" }>): SandboxApiError {
  return new SandboxApiError({
    status,
    code: code ?? (status === 429 ? "event_rate_limited" : `injected_${status}`),
    message: "This answer is an injected fault of the sandbox.",
    headers: retryAfter === undefined ? {} : { "retry-after": retryAfter },
  });
}

/** `code`, `message` and `param` at the top level; assumed. */
function errorAnswer(error: unknown): ApiAnswer {
  if (!(error instanceof SandboxApiError)) {
    return { status: 500, body: { code: "internal_error", message: "The sandbox failed: internal error." } };
  }
  const { status, code, message, param, fields, headers } = error;
  const about = { ...(param === undefined ? {} : { param }), ...(fields === undefined ? {} : { fields }) };
  return { status, headers, body: { code, message, ...about } };
}

type Params = Readonly<Record<string, string>>;

type CheckedCall = Pick<
  ApiCall<unknown>,
  "nowMs" | "params" | "contentType" | "referer" | "ip" | "idempotencyKey" | "countEvents"
> & {
  caller: Caller | undefined;
  query: unknown;
  body: unknown;
};

/**
 * The table of handlers has a row for every operation, and the input was checked by the schemas that the handler's type
 * derives from.
 */
function handlerOf(handlers: ApiHandlers, { resource, name, operation }: BoundOperation) {
  const handler = (handlers[resource] as unknown as Record<string, ApiHandler<never>>)[name];
  if (handler === undefined) {
    throw new PigeonholeError("invalid_option", `handlers.${resource}.${name} is missing.`);
  }
  return async (call: CheckedCall): Promise<ApiAnswer> =>
    SpecialAnswer.wholeOf(await handler(call as never), operation.status[0]);
}

function splitUrl(url: string): { path: string; search: string } {
  const at = url.indexOf("?");
  return at === -1 ? { path: url, search: "" } : { path: url.slice(0, at), search: url.slice(at + 1) };
}
