import { isoTime } from "../../base/iso-time.js";
import { wasNotReceived } from "../../capture/model/answer-advice.js";
import { RETRY_SCHEDULE } from "../../protocol/retry-schedule.js";
import type { AttemptRow } from "../../sandbox/delivery/attempt-row.js";
import type { Sandbox } from "../../sandbox/control/sandbox.js";
import type { PlannedAttempt } from "../../sandbox/delivery/scheduled-delivery.js";
import type { DevSandbox } from "./dev-sandbox.js";
import type {
  ComingAttempt,
  SandboxAttempt,
  SandboxDelivery,
  SandboxFault,
  SandboxFaultRule,
  SandboxState,
} from "./sandbox-state.js";

const MAX_DELIVERIES = 100;
const MAX_CONTACT_EVENTS = 200;

/** What the page shows of the sandbox. */
export function describeSandbox({ service, calls }: DevSandbox): SandboxState {
  const { clock, baseUrl, plannedAttempts, openDeliveries, endpoints, contactEvents } = service;
  // Read first: a millisecond that passes in between must not make the sandbox less far ahead.
  const hereMs = Date.now();
  const nowMs = clock.now();
  return {
    now: isoTime(nowMs),
    aheadMs: Math.max(0, nowMs - hereMs),
    apiUrl: baseUrl,
    nextAttemptAt: isoTime(plannedAttempts[0]?.dueAtMs),
    openDeliveries,
    endpoints: endpoints.list(),
    faults: faultsOf(service),
    deliveries: deliveriesOf(service.deliveries(), plannedAttempts),
    calls,
    contactEvents: contactEvents.slice(-MAX_CONTACT_EVENTS).toReversed(),
  };
}

/** The ids of the two lists overlap, so the page's ids have the list's name in front. */
function faultsOf({ faults }: Sandbox): SandboxFault[] {
  return (["deliveries", "api"] as const).flatMap((of) =>
    faults[of].list().map(({ id, rule, left }) => ({ id: `${of}-${id}`, of, rule: rule as SandboxFaultRule, left })),
  );
}

/** Removes the fault with an id of the page. */
export function removeFault({ faults }: Sandbox, id: string): boolean {
  const [of, own = ""] = id.split("-");
  return (of === "deliveries" || of === "api") && faults[of].remove(own);
}

function deliveriesOf(rows: readonly AttemptRow[], planned: readonly PlannedAttempt[]): SandboxDelivery[] {
  const byId = new Map<string, SandboxDelivery>();
  for (const row of rows) {
    const { deliveryId: id, endpointId, eventId, eventType } = row;
    const known = byId.get(id);
    // Deleted and set again, so that the last one is the one with the latest attempt.
    byId.delete(id);
    const attempts = [...(known?.attempts ?? []), attemptOf(row)];
    byId.set(id, { id, endpointId, eventId, eventType, attempts, coming: [] });
  }
  for (const next of planned) {
    const { deliveryId: id, endpointId, eventId, eventType } = next;
    const known = byId.get(id) ?? { id, endpointId, eventId, eventType, attempts: [] };
    byId.set(id, { ...known, coming: comingAttempts(next) });
  }
  return [...byId.values()].slice(-MAX_DELIVERIES).toReversed();
}

function attemptOf(row: AttemptRow): SandboxAttempt {
  const { attempt, createdAt, responseCode: status, outcome, contentType, durationMs, error, fault } = row;
  const notReceived = wasNotReceived({ status, outcome, contentType });
  return { attempt, at: createdAt, status, outcome, notReceived, durationMs, error, fault };
}

/** The planned attempt, and those that follow it while each one fails. */
function comingAttempts({ attempt, dueAtMs }: PlannedAttempt): ComingAttempt[] {
  const coming = [{ attempt, at: isoTime(dueAtMs), isPlanned: true }];
  let atMs = dueAtMs;
  for (let next = attempt + 1; next <= RETRY_SCHEDULE.attempts; next += 1) {
    atMs += RETRY_SCHEDULE.waitsMs[next - 2] ?? 0;
    coming.push({ attempt: next, at: isoTime(atMs), isPlanned: false });
  }
  return coming;
}
