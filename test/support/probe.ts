import { createTestReceiver, signDelivery, TEST_SECRET } from "pigeonhole/testing";
import { onTestFinished } from "vitest";
import { type Clock, systemClock } from "#pigeonhole/base/clock.js";
import { silentLogger } from "#pigeonhole/base/logger.js";
import type { DeliveryHandler, DeliveryRequest } from "#pigeonhole/http/delivery-request.js";
import { OUTCOME_HEADER } from "#pigeonhole/protocol/outcome.js";
import { Admission } from "#pigeonhole/receiver/admission.js";
import { type DeliveryPath, createDeliveryHandler } from "#pigeonhole/receiver/handle-delivery.js";
import { partsOf } from "#pigeonhole/receiver/receiver-parts.js";

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
  const { options, path } = partsOf(createTestReceiver({ clock }));
  await options.store.open({ logger: silentLogger });
  onTestFinished(() => options.store.close());
  const admission = new Admission(
    { maxBodyBytes, bodyTimeoutMs, bodiesBytes, highWaterMark: 1_000, accepts: true },
    clock,
  );
  admission.state = "running";
  return { ...path, admission };
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
