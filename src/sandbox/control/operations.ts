import { readDuration } from "../../base/duration.js";
import { type ApiFaultRule, checkApiRule } from "../calls/api-faults.js";
import type { AttemptFilter } from "../delivery/attempt-log.js";
import { type DeliveryFaultRule, checkDeliveryRule } from "../delivery/delivery-faults.js";
import { RESOURCE_NAMES, type ResourceName } from "../resources/create-resources.js";
import type { DomainRecords } from "../resources/domain-records.js";
import type { MailServerInput } from "../resources/mail-servers.js";
import type { Sandbox } from "./sandbox.js";
import {
  type ControlBody,
  badRequest,
  wholeNumberOf,
  flagOf,
  objectOf,
  refuseOthers,
  textOf,
} from "./read-control-body.js";

/** One operation of the control API. Its errors are answered 4xx. */
export interface ControlOperation {
  method: "GET" | "POST";
  run(sandbox: Sandbox, input: ControlBody): unknown;
}

const MAX_EMITTED = 10_000;

/** The control API by method and path. Bodies are JSON objects, or empty. */
export const CONTROL_OPERATIONS: Readonly<Record<string, ControlOperation>> = {
  "GET /sandbox/state": { method: "GET", run: stateOf },
  "GET /sandbox/endpoints": { method: "GET", run: (sandbox) => ({ data: sandbox.endpoints.list() }) },
  "GET /sandbox/deliveries": {
    method: "GET",
    run: (sandbox, input) => ({ data: sandbox.deliveries(readFilter(input)) }),
  },
  "GET /sandbox/contact-events": { method: "GET", run: (sandbox) => ({ data: sandbox.contactEvents }) },
  "GET /sandbox/rows": {
    method: "GET",
    run(sandbox, input) {
      refuseOthers(input, ["resource"]);
      return { data: sandbox.rows(textOf(input, "resource") as ResourceName) };
    },
  },
  "POST /sandbox/callers": { method: "POST", run: makeCaller },
  "POST /sandbox/verify-caller": {
    method: "POST",
    run({ callers }, input) {
      refuseOthers(input, ["token"]);
      const token = textOf(input, "token");
      if (token === undefined) throw badRequest(422, "token", "Must be an access token.");
      callers.verify(token);
      return { verified: true };
    },
  },
  "POST /sandbox/emit": { method: "POST", run: emit },
  "POST /sandbox/advance": {
    method: "POST",
    async run(sandbox, input) {
      refuseOthers(input, ["by"]);
      const { by } = input;
      if (typeof by !== "string" && typeof by !== "number") {
        throw badRequest(422, "by", 'Must be milliseconds, or a text such as "1h30m".');
      }
      await sandbox.advance(readDuration(by));
      return stateOf(sandbox);
    },
  },
  "POST /sandbox/advance-to-next": {
    method: "POST",
    async run(sandbox) {
      const advancedMs = (await sandbox.advanceToNextAttempt()) ?? null;
      return { advancedMs, ...stateOf(sandbox) };
    },
  },
  "POST /sandbox/settle": {
    method: "POST",
    async run(sandbox) {
      await sandbox.settle();
      return stateOf(sandbox);
    },
  },
  "POST /sandbox/faults": { method: "POST", run: setFaults },
  "POST /sandbox/confirm-sign-up": {
    method: "POST",
    run(sandbox, input) {
      refuseOthers(input, ["formId", "email"]);
      const [formId, email] = [textOf(input, "formId"), textOf(input, "email")];
      if (formId === undefined) throw badRequest(422, "formId", "Must be the id of a form.");
      if (email === undefined) throw badRequest(422, "email", "Must be an address that signed up.");
      return { confirmed: sandbox.confirmSignUp(formId, email) };
    },
  },
  "POST /sandbox/mail-servers": {
    method: "POST",
    run(sandbox, input) {
      sandbox.setMailServer(input as unknown as MailServerInput);
      return stateOf(sandbox);
    },
  },
  "POST /sandbox/domain-records": {
    method: "POST",
    run(sandbox, input) {
      sandbox.setDomainRecords(input as unknown as DomainRecords);
      return stateOf(sandbox);
    },
  },
  "POST /sandbox/reset": {
    method: "POST",
    run(sandbox, input) {
      refuseOthers(input, ["keepEndpoints"]);
      sandbox.reset({ keepEndpoints: flagOf(input, "keepEndpoints") });
      return stateOf(sandbox);
    },
  },
};

function stateOf(sandbox: Sandbox): object {
  const { clock, nextAttemptAtMs, openDeliveries, contactEvents, endpoints } = sandbox;
  return {
    now: new Date(clock.now()).toISOString(),
    nextAttemptAt: nextAttemptAtMs === undefined ? null : new Date(nextAttemptAtMs).toISOString(),
    openDeliveries,
    endpoints: endpoints.list().length,
    contactEvents: contactEvents.length,
    rows: Object.fromEntries(RESOURCE_NAMES.map((name) => [name, sandbox.rows(name).length])),
  };
}

/** A token of a caller. The options are checked by `sandbox.callers`. */
function makeCaller({ callers }: Sandbox, { kind, ...options }: ControlBody): object {
  switch (kind) {
    case "owner":
      return { token: callers.owner(options) };
    case "member":
      return { token: callers.member(options) };
    case "key":
      return { token: callers.key(options) };
    default:
      throw badRequest(422, "kind", "Must be owner, member or key.");
  }
}

function emit(sandbox: Sandbox, input: ControlBody): object {
  refuseOthers(input, ["type", "data", "address", "id", "story", "count"]);
  const type = textOf(input, "type");
  if (type === undefined) throw badRequest(422, "type", "Must be an event type, such as email.bounced.");
  const [address, id, story] = [textOf(input, "address"), textOf(input, "id"), textOf(input, "story")];
  const options = { address, id, story };
  const data = objectOf(input, "data") ?? {};
  const count = wholeNumberOf(input, "count", MAX_EMITTED) ?? 1;
  return { data: Array.from({ length: count }, () => sandbox.emit(type, data, options)) };
}

/** Appends rules. `clear` removes the existing ones first. The lists check the rules themselves. */
function setFaults({ faults }: Sandbox, input: ControlBody): object {
  refuseOthers(input, ["clear", "deliveries", "api"]);
  const deliveries = rulesOf(input, "deliveries") as unknown as DeliveryFaultRule[];
  const api = rulesOf(input, "api") as unknown as ApiFaultRule[];
  const clear = flagOf(input, "clear");
  // A refused request changes nothing, so all rules are checked before the first is added.
  deliveries.forEach(checkDeliveryRule);
  api.forEach(checkApiRule);
  if (clear) faults.clear();
  for (const rule of deliveries) faults.deliveries.add(rule);
  for (const rule of api) faults.api.add(rule);
  return { added: deliveries.length + api.length };
}

function rulesOf(input: ControlBody, field: string): ControlBody[] {
  const rules: unknown = input[field] ?? [];
  if (Array.isArray(rules))
    return rules.map((_, index) => ruleOf(rules as unknown as ControlBody, String(index), field));
  throw badRequest(422, field, "Must be a list of rules.");
}

function ruleOf(rules: ControlBody, index: string, field: string): ControlBody {
  const rule = objectOf(rules, index);
  if (rule !== undefined && objectOf(rule, "fault") !== undefined) return rule;
  throw badRequest(422, `${field}.${index}.fault`, 'Must be an object such as { "kind": "drop" }.');
}

function readFilter(input: ControlBody): AttemptFilter {
  refuseOthers(input, ["endpointId", "eventId", "type", "status", "kind"]);
  const status = textOf(input, "status");
  const kind = textOf(input, "kind");
  if (status !== undefined && status !== "delivered" && status !== "failed") {
    throw badRequest(422, "status", "Must be delivered or failed.");
  }
  if (kind !== undefined && kind !== "event" && kind !== "test" && kind !== "replay") {
    throw badRequest(422, "kind", "Must be event, test or replay.");
  }
  const [endpointId, eventId, type] = [textOf(input, "endpointId"), textOf(input, "eventId"), textOf(input, "type")];
  return { endpointId, eventId, type, status, kind };
}
