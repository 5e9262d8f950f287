import { createSqliteStore } from "pigeonhole";
import { signDelivery, TEST_SECRET } from "pigeonhole/testing";
import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "#pigeonhole/base/clock.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import { Dispatcher } from "#pigeonhole/dispatch/dispatcher.js";
import { HandlerRegistry } from "#pigeonhole/dispatch/registry.js";
import { DEFAULT_RETRY } from "#pigeonhole/dispatch/retry-policy.js";
import { RunRecord } from "#pigeonhole/dispatch/handler-runs.js";
import { Runner } from "#pigeonhole/dispatch/runner.js";
import type { DeliveryHandler, DeliveryRequest } from "#pigeonhole/http/delivery-request.js";
import { SIGNATURE_ASSUMPTIONS } from "#pigeonhole/protocol/signature-assumptions.js";
import { OUTCOME_HEADER } from "#pigeonhole/protocol/outcome.js";
import { Admission } from "#pigeonhole/receiver/admission.js";
import { Alarms } from "#pigeonhole/receiver/alarms.js";
import { ClockWatch, createRememberingClock } from "#pigeonhole/receiver/clock-watch.js";
import { AnswerWatch, SignatureWatch } from "#pigeonhole/receiver/delivery-watch.js";
import { type DeliveryPath, createDeliveryHandler } from "#pigeonhole/receiver/handle-delivery.js";
import { SecretSource } from "#pigeonhole/receiver/secret-source.js";

/** What a mount is made for. */
export interface MountTarget {
  handle: DeliveryHandler;
  clock: Clock;
}

/** The path of a receiver without handlers, in memory, that remembers what came through the mount. */
export interface Probe extends MountTarget {
  readonly received: { body: Buffer; signature: string | undefined }[];
  readonly outcomes: (string | undefined)[];
  readonly admission: Admission;
}

/** Rules of the probe that a test sets its own way. */
export interface ProbeRules {
  clock?: Clock;
  maxBodyBytes?: number;
  bodiesBytes?: number;
  bodyTimeoutMs?: number;
  /** Whether a request needs a signature header of its own, as it does at a receiver. */
  needsSignature?: boolean;
  /** Breaks something. */
  damage?: (path: DeliveryPath, request: DeliveryRequest) => void;
}

export const LIMIT = 10_000;

export async function createProbe(rules: ProbeRules = {}): Promise<Probe> {
  const { clock = systemClock, damage } = rules;
  const path = await openPath(rules, clock);
  const handle = createDeliveryHandler(path);
  const received: Probe["received"] = [];
  const outcomes: Probe["outcomes"] = [];
  return {
    clock,
    received,
    outcomes,
    admission: path.admission,
    async handle(request) {
      const signed = signInPassing(request, rules, clock, received);
      damage?.(path, signed);
      const answer = await handle(signed);
      outcomes.push(answer.headers[OUTCOME_HEADER]);
      return answer;
    },
  };
}

async function openPath(rules: ProbeRules, clock: Clock): Promise<DeliveryPath> {
  const { maxBodyBytes = LIMIT, bodyTimeoutMs = 5_000, bodiesBytes = LIMIT * 10 } = rules;
  const logger = silentLogger;
  const store = createSqliteStore({ file: ":memory:" });
  await store.open({ logger });
  onTestFinished(() => store.close());
  const alarms = new Alarms({ logger, clock, hook: undefined });
  const registry = new HandlerRegistry({}, { concurrency: 1, retry: DEFAULT_RETRY });
  const operator = store.openOperator(() => clock.now());
  const context = { store, name: "test", api: undefined, logger, clock };
  const record = new RunRecord();
  const runner = new Runner({ context, random: Math.random, logErrorMessages: false, record });
  const admission = new Admission(
    { maxBodyBytes, bodyTimeoutMs, bodiesBytes, highWaterMark: 1_000, accepts: true },
    clock,
  );
  admission.state = "running";
  const assumptions = SIGNATURE_ASSUMPTIONS;
  const clockWatch = new ClockWatch({ store, clock: createRememberingClock(clock), logger, alarms });
  const answers = new AnswerWatch({ logger, assumptions, clock, alarms });
  const secrets = new SecretSource(TEST_SECRET, { clock, logger, alarms });
  return {
    admission,
    verification: {
      secrets,
      rules: { toleranceSeconds: 300, assumptions, unverified: "retry" },
      clock,
    },
    registry,
    dispatcher: new Dispatcher({ store, registry, runner, sender: undefined, clock, logger }, operator),
    report: {
      signatures: new SignatureWatch({ assumptions, secrets, clock, alarms }),
      answers,
      clockWatch,
      alarms,
      logger,
    },
    telemetry: undefined,
  };
}

/** The request with a signature for whatever body it turns out to have: these tests are about bytes. */
function signInPassing(
  request: DeliveryRequest,
  { needsSignature = false }: ProbeRules,
  clock: Clock,
  received: Probe["received"],
): DeliveryRequest {
  const { method, header } = request;
  let body: Uint8Array | undefined;
  return {
    method,
    header(name) {
      if (name !== "x-svc-signature") return header(name);
      if (body === undefined) return header(name) ?? (needsSignature ? undefined : "comes later");
      const signed = signDelivery({ body, secret: TEST_SECRET, timestamp: clock.now() });
      return new Headers(signed).get(name) ?? undefined;
    },
    async readBody(room) {
      const read = await request.readBody(room);
      if (read.kind !== "read") return read;
      ({ body } = read);
      received.push({ body: Buffer.from(body), signature: header("x-svc-signature") });
      return read;
    },
  };
}
