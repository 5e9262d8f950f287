import { z } from "zod";
import { readDuration } from "../../base/duration.js";
import { isPigeonholeError } from "../../base/error.js";
import { checkInput } from "../../contract/check-input.js";
import { type ApiAnswer, SandboxApiError, answerToError, inputRefusal } from "../api/api-handlers.js";
import { type ApiFaultRule, apiFaultRule } from "../calls/api-faults.js";
import { parseJsonBody, requireSize } from "../calls/read-input.js";
import type { ApiRequest, RequestHandler } from "../calls/request-handler.js";
import { isoNow } from "../clock/sandbox-time.js";
import { type DeliveryFaultRule, deliveryFaultRule } from "../delivery/delivery-faults.js";
import { RESOURCE_NAMES } from "../resources/create-resources.js";
import type { Sandbox } from "./sandbox.js";

/** Prefix of the control API. */
export const CONTROL_PATH = "/sandbox/";

const MAX_BYTES = 1024 * 1024;

/** The control API. It has no key, since only this machine can reach it. */
export function createControl(sandbox: Sandbox): RequestHandler {
  return {
    bodyLimit: () => MAX_BYTES,
    async handle(request) {
      const { status, body } = await answer(sandbox, request).catch(faultAnswer);
      return { status, body, headers: { "cache-control": "no-store" } };
    },
  };
}

async function answer(sandbox: Sandbox, { method, path, search, body }: ApiRequest): Promise<ApiAnswer> {
  const operation = CONTROL_OPERATIONS[`${method} ${path}`];
  if (operation === undefined) {
    const message = `There is no ${method} ${path}; there are ${Object.keys(CONTROL_OPERATIONS).join(", ")}.`;
    throw new SandboxApiError({ code: "resource_not_found", message });
  }
  requireSize(body, MAX_BYTES);
  const json = (): unknown => (body.byteLength === 0 ? {} : parseJsonBody(body));
  const sent = method === "GET" ? Object.fromEntries(new URLSearchParams(search)) : json();
  const checked = checkInput(operation.input, sent, { "*": "invalid_parameter" });
  if (!checked.ok) throw inputRefusal(checked.issue, checked.issue.param === "" ? 400 : undefined);
  return { status: 200, body: await operation.run(sandbox, checked.value) };
}

function faultAnswer(error: unknown): ApiAnswer {
  if (isPigeonholeError(error)) return { status: 422, body: { code: error.code, message: error.message } };
  return answerToError(error);
}

/** One operation of the control API. What its schema or the sandbox refuses is answered 4xx. */
interface ControlOperation {
  /** The query of a GET, the body of a POST. */
  input: z.ZodObject;
  run(sandbox: Sandbox, input: unknown): unknown;
}

const MAX_EMITTED = 10_000;

const text = z.string({ error: "Must be a string." });
const flag = z.boolean({ error: "Must be true or false." }).default(false);
const count = { error: `Must be a whole number from 1 to ${MAX_EMITTED}.` };
const rules = <Rule extends z.ZodType>(rule: Rule) => z.array(rule, { error: "Must be a list of rules." }).default([]);
const nothing = z.looseObject({});

/** The control API by method and path. Bodies are JSON objects, or empty. */
export const CONTROL_OPERATIONS: Readonly<Record<string, ControlOperation>> = {
  "GET /sandbox/state": define(nothing, stateOf),
  "GET /sandbox/deliveries": define(
    z.strictObject({
      endpointId: text.optional(),
      eventId: text.optional(),
      type: text.optional(),
      status: z.enum(["delivered", "failed"], { error: "Must be delivered or failed." }).optional(),
      kind: z.enum(["event", "test", "replay"], { error: "Must be event, test or replay." }).optional(),
    }),
    (sandbox, filter) => ({ data: sandbox.deliveries(filter) }),
  ),
  "GET /sandbox/contact-events": define(nothing, (sandbox) => ({ data: sandbox.contactEvents })),
  "POST /sandbox/callers": define(
    z.looseObject({ kind: z.enum(["owner", "member", "key"], { error: "Must be owner, member or key." }) }),
    // The options are checked by `sandbox.callers`.
    ({ callers }, { kind, ...options }) => ({ token: callers[kind](options) }),
  ),
  "POST /sandbox/emit": define(
    z.strictObject({
      type: z.string({ error: "Must be an event type, such as email.bounced." }),
      data: z.looseObject({}, { error: "Must be an object." }).default({}),
      address: text.optional(),
      id: text.optional(),
      story: text.optional(),
      count: z.int(count).min(1, count).max(MAX_EMITTED, count).default(1),
    }),
    (sandbox, { type, data, count: times, ...options }) => ({
      data: Array.from({ length: times }, () => sandbox.emit(type, data, options)),
    }),
  ),
  "POST /sandbox/advance": define(
    z.strictObject({
      by: z.union([text, z.number()], { error: 'Must be milliseconds, or a text such as "1h30m".' }),
    }),
    async (sandbox, { by }) => {
      await sandbox.advance(readDuration(by));
      return stateOf(sandbox);
    },
  ),
  "POST /sandbox/advance-to-next": define(nothing, async (sandbox) => {
    const advancedMs = (await sandbox.advanceToNextAttempt()) ?? null;
    return { advancedMs, ...stateOf(sandbox) };
  }),
  "POST /sandbox/faults": define(
    z.strictObject({ clear: flag, deliveries: rules(deliveryFaultRule), api: rules(apiFaultRule) }),
    setFaults,
  ),
  "POST /sandbox/confirm-sign-up": define(
    z.strictObject({
      formId: z.string({ error: "Must be the id of a form." }),
      email: z.string({ error: "Must be an address that signed up." }),
    }),
    (sandbox, { formId, email }) => ({ confirmed: sandbox.confirmSignUp(formId, email) }),
  ),
  "POST /sandbox/reset": define(z.strictObject({ keepEndpoints: flag }), (sandbox, options) => {
    sandbox.reset(options);
    return stateOf(sandbox);
  }),
};

function define<Input extends z.ZodObject>(
  input: Input,
  run: (sandbox: Sandbox, input: z.output<Input>) => unknown,
): ControlOperation {
  return { input, run: (sandbox, given) => run(sandbox, given as z.output<Input>) };
}

function stateOf(sandbox: Sandbox): object {
  const { clock, plannedAttempts, openDeliveries, contactEvents, endpoints } = sandbox;
  const [next] = plannedAttempts;
  return {
    now: isoNow(clock),
    nextAttemptAt: next === undefined ? null : new Date(next.dueAtMs).toISOString(),
    openDeliveries,
    endpoints: endpoints.list().length,
    contactEvents: contactEvents.length,
    rows: Object.fromEntries(RESOURCE_NAMES.map((name) => [name, sandbox.rows(name).length])),
  };
}

/** Appends rules; `clear` removes the existing ones first. */
function setFaults(
  { faults }: Sandbox,
  { clear, deliveries, api }: { clear: boolean; deliveries: DeliveryFaultRule[]; api: ApiFaultRule[] },
): object {
  if (clear) faults.clear();
  for (const rule of deliveries) faults.deliveries.add(rule);
  for (const rule of api) faults.api.add(rule);
  return { added: deliveries.length + api.length };
}
