import type { Changes } from "../../base/options.js";
import type { Clock } from "../../base/clock.js";
import { MINUTE } from "../../base/duration.js";
import { sleep } from "../../base/wait.js";
import { type BoundOperation, type PathOverrides, bindOperations } from "../../contract/bind-operations.js";
import { type CredentialShape, resolveCredentialShape } from "../../contract/credential-shape.js";
import { countEvents } from "../../contract/operation.js";
import type { ApiFaultList, InjectedFault } from "./api-faults.js";
import {
  type ApiAnswer,
  type ApiHandler,
  type ApiHandlers,
  type Caller,
  SandboxApiError,
  SpecialAnswer,
  answerToError,
} from "../api/api-handlers.js";
import type { ApiKeyRegistry } from "../access/api-key-registry.js";
import { SlidingLimit } from "../api/sliding-limit.js";
import { authenticate, requireAuthority, requireOpen } from "./authenticate.js";
import { type FoundOperation, createRoutes, matchRoutes, noOperation, ofMethod } from "./match-route.js";
import { checkParams, readBody, readIdempotencyKey, readOperationQuery } from "./read-input.js";
import type { ApiRequest, RequestHandler } from "./request-handler.js";

export interface SandboxApiOptions {
  handlers: ApiHandlers;
  keys: ApiKeyRegistry;
  /** The time of the workspace. */
  clock: Clock;
  /** The time of the callers: `occurredAt`, the rate of events and waits belong to it. */
  callerClock: Clock;
  /** Injected faults. @default none */
  faults?: ApiFaultList | undefined;
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
export class Api implements RequestHandler {
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
  bodyLimit(method: string, path: string): number {
    return limitOf(ofMethod(matchRoutes(this.#routes, path), method));
  }

  async handle(request: ApiRequest): Promise<ApiAnswer | "no_answer"> {
    const { callerClock, keys, onCall, onError } = this.#options;
    this.#requests += 1;
    const requestId = `req_${this.#requests}`;
    const startedMs = callerClock.now();
    const trace: CallTrace = { call: undefined, fault: undefined, caller: undefined };
    const given = await this.#answer(request, trace).catch((error: unknown) => {
      if (!(error instanceof SandboxApiError)) onError?.(error);
      return answerToError(error);
    });
    const isAnswer = given !== "no_answer";
    const status = isAnswer ? given.status : null;
    const code = isAnswer && given.status >= 400 ? (given.body as { code: string }).code : undefined;
    const { caller, ...known } = trace;
    onCall?.({ ...known, keyId: caller?.keyId, method: request.method, status, code, requestId });
    if (caller?.kind === "key" && status !== null) {
      const { method, path, ip = null, headers } = request;
      const durationMs = Math.max(0, callerClock.now() - startedMs);
      const sent = { method, path, ip, userAgent: headers["user-agent"] ?? null };
      keys.requests.add({ keyId: caller.keyId, ...sent, status, errorCode: code ?? null, durationMs });
    }
    return isAnswer ? { ...given, headers: { "x-request-id": requestId, ...given.headers } } : given;
  }

  /** Resets the count of events and the number of requests. */
  reset(): void {
    this.#rate.reset();
    this.#requests = 0;
  }

  async #answer(request: ApiRequest, trace: CallTrace): Promise<ApiAnswer | "no_answer"> {
    const { openLink, keys, callerClock, faults } = this.#options;
    const { method, path } = request;
    const opened = method === "GET" ? openLink?.(path) : undefined;
    if (opened !== undefined) return SpecialAnswer.wholeOf(opened, 200);
    const matches = matchRoutes(this.#routes, path);
    const found = ofMethod(matches, method);
    // A path that nothing has needs a key too, so that nobody without one learns which paths there are.
    const isPublic = found?.bound.operation.credential === "none";
    if (!isPublic) trace.caller = authenticate(request.headers, keys, this.#shape);
    if (found === undefined) throw noOperation(matches);
    trace.call = found.bound.call;
    trace.fault = faults?.next(trace.call);
    return applyFault(trace.fault, callerClock, () => this.#answerCall(request, found, trace.caller));
  }

  /** The order of what is checked here is assumed: see docs/service.md#order-of-checks. */
  async #answerCall(request: ApiRequest, found: FoundOperation, caller: Caller | undefined): Promise<ApiAnswer> {
    const { handlers, clock, callerClock } = this.#options;
    const { headers, ip, body: bytes } = request;
    const { bound, params } = found;
    const { operation } = bound;
    const nowMs = callerClock.now();
    if (caller !== undefined) requireAuthority(caller, operation);
    const query = readOperationQuery(operation, request.search);
    const idempotencyKey = readIdempotencyKey(operation, headers);
    const { json, body } = readBody(operation, { bytes, maxBytes: limitOf(found), nowMs });
    if (caller !== undefined) requireOpen(caller, operation);
    checkParams(operation, params);
    const events = countEvents(operation, json);
    const take = (): void => {
      if (caller !== undefined && events > 0) this.#rate.take(caller.keyId, events, nowMs);
    };
    const { "content-type": contentType, referer } = headers;
    const sent = { params, query, idempotencyKey, body, contentType, referer, ip };
    // There is a handler for every operation, whose input has the type that the checks leave.
    const handler = (handlers[bound.resource] as Record<string, unknown>)[bound.name] as ApiHandler<never>;
    const answer = await handler({ ...sent, caller, nowMs: clock.now(), countEvents: take } as never);
    return SpecialAnswer.wholeOf(answer, operation.status[0]);
  }
}

function limitOf(found: FoundOperation | undefined): number {
  return found?.bound.operation.uploads?.maxBytes ?? MAX_JSON_BYTES;
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
      const answer = await run().catch(answerToError);
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
