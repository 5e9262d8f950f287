import type { ApiHandlers } from "../api/api-handlers.js";
import { DedicatedIps } from "./dedicated-ips.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { SendingLanes } from "./sending-lanes.js";

/** The lanes of outgoing mail, and the dedicated IPs. See docs/service.md#sending-lanes. */
export function createSending({ clock, options }: Workspace): SandboxResource<"sending"> {
  const lanes = new SendingLanes(clock);
  const ips = new DedicatedIps(options.dedicatedIps, clock);
  const handlers: ApiHandlers["sending"] = {
    streams: () => ({ body: { data: lanes.list() } }),
    resume: () => ({ body: lanes.resume() }),
    dedicatedIps: () => ({ body: { data: ips.list() } }),
    dedicatedIp: ({ params }) => ({ body: ips.get(params["ip"] ?? "") }),
  };
  return {
    handlers,
    rows: () => [...lanes.list(), ...ips.list()],
    reset: () => lanes.reset(),
    onEvent: (event) => lanes.note(event),
  };
}
