import { readDuration } from "../../base/duration.js";
import type { EventType } from "../../protocol/event-types.js";
import type { ApiFaultRule } from "../../sandbox/calls/api-faults.js";
import { SandboxApiError } from "../../sandbox/api/api-handlers.js";
import type { DeliveryFaultRule } from "../../sandbox/delivery/delivery-faults.js";
import type { Sandbox } from "../../sandbox/control/sandbox.js";
import type { DevSandbox } from "../sandbox/dev-sandbox.js";
import { type BodyFields, requireField } from "../../web/body-fields.js";
import { describeSandbox, removeFault } from "../sandbox/describe-sandbox.js";
import { PageApiError, badField } from "../../web/page-api-error.js";
import type { WebRoute } from "../../web/web-route.js";
import type { AdvanceReport, EmitReport, SandboxState } from "../sandbox/sandbox-state.js";

/** Events that one request may fire. */
const MAX_EMITTED = 1_000;
const MAX_TEXT_LENGTH = 200;

/** Shows and moves the emulated service. Without one each of these answers 404 `no_sandbox`. */
export function sandboxRoutes(sandbox: DevSandbox | undefined): WebRoute[] {
  const running = (): DevSandbox => {
    if (sandbox !== undefined) return sandbox;
    throw new PageApiError(404, { code: "no_sandbox", message: "Start with --with-sandbox for an emulated service." });
  };
  const stateNow = (): SandboxState => describeSandbox(running());
  return [
    { at: "GET /api/sandbox", handle: stateNow },
    {
      at: "POST /api/sandbox/advance",
      handle: async ({ body }): Promise<AdvanceReport> => {
        const advancedMs = await advance(running().service, body);
        return { advancedMs: advancedMs ?? null, state: stateNow() };
      },
    },
    {
      at: "POST /api/sandbox/faults",
      handle: ({ body }): SandboxState => {
        addFault(running().service, body);
        return stateNow();
      },
    },
    {
      at: "POST /api/sandbox/faults/{id}/remove",
      handle: ({ id }): SandboxState => {
        const isRemoved = removeFault(running().service, id);
        if (!isRemoved) throw new PageApiError(404, { code: "not_found", message: "The fault is not in force." });
        return stateNow();
      },
    },
    {
      at: "POST /api/sandbox/endpoints/{id}/resume",
      handle: ({ id }): SandboxState => {
        const { endpoints } = running().service;
        withPageErrors(() => endpoints.update(id, { enabled: true }));
        return stateNow();
      },
    },
    {
      at: "POST /api/sandbox/emit",
      handle: ({ body }): EmitReport => emit(running().service, body),
    },
  ];
}

/** The milliseconds that the clock was moved; undefined if no attempt is planned. */
async function advance(service: Sandbox, body: BodyFields): Promise<number | undefined> {
  const [by, toNext] = [body.text("by", MAX_TEXT_LENGTH), body.text("toNext", MAX_TEXT_LENGTH)];
  if ((by === undefined) === (toNext === undefined)) throw badField("by", "or toNext must be given, and not both.");
  if (by === undefined) return service.advanceToNextAttempt(toNext === "" ? undefined : toNext);
  const byMs = readDuration(by);
  await service.advance(byMs);
  return byMs;
}

/** The lists check the rules themselves. */
function addFault({ faults }: Sandbox, body: BodyFields): void {
  const of = requireField("of", body.choice("of", ["deliveries", "api"]));
  const rule: unknown = requireField("rule", body.record("rule"));
  if (of === "deliveries") faults.deliveries.add(rule as DeliveryFaultRule);
  else faults.api.add(rule as ApiFaultRule);
}

function emit(service: Sandbox, body: BodyFields): EmitReport {
  const type = requireField("type", body.text("type", MAX_TEXT_LENGTH)) as EventType;
  const [data, count] = [body.record("data") ?? {}, body.count("count", MAX_EMITTED) ?? 1];
  const emitted = Array.from({ length: count }, () => service.emit(type, data));
  return {
    eventIds: emitted.map(({ event }) => event.id),
    deliveries: emitted.reduce((sum, { deliveries }) => sum + deliveries.length, 0),
  };
}

/** A refusal of the emulated API as one of the page's API. */
function withPageErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SandboxApiError)) throw error;
    throw new PageApiError(error.status, { code: error.code, message: error.message });
  }
}
