import { DAY, MINUTE } from "../../base/duration.js";
import { SandboxApiError } from "../api/api-handlers.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { SendingLanes } from "./sending-lanes.js";

/** How long a dedicated IP warms up; assumed. */
const WARM_UP_MS = 30 * DAY;
/** The service documents "every few minutes". */
const REFRESH_MS = 5 * MINUTE;

/** The lanes of outgoing mail, and the dedicated IPs. See docs/service.md#sending-lanes. */
export function createSending({ clock, options }: Workspace): SandboxResource<"sending"> {
  const lanes = new SendingLanes(clock);
  const assignedMs = clock.now();
  const ipBody = (ip: string): object => dedicatedIpBody(ip, { assignedMs, nowMs: clock.now() });
  const ips = options.dedicatedIps.map((ip) => ip.toLowerCase());
  return {
    handlers: {
      streams: () => ({ data: lanes.list() }),
      resume: () => lanes.resume(),
      dedicatedIps: () => ({ data: ips.map(ipBody) }),
      dedicatedIp({ params }) {
        const ip = params.ip.toLowerCase();
        if (ips.includes(ip)) return ipBody(ip);
        throw new SandboxApiError({ code: "resource_not_found" });
      },
    },
    rows: () => [...lanes.list(), ...ips.map(ipBody)],
    reset: () => lanes.reset(),
    onEvent: (event) => lanes.note(event),
  };
}

/** A dedicated IP at the last refresh of its figure. Time alone warms it. See docs/service.md#dedicated-ips. */
function dedicatedIpBody(ip: string, { assignedMs, nowMs }: { assignedMs: number; nowMs: number }): object {
  const warmedMs = Math.floor(Math.max(0, nowMs - assignedMs) / REFRESH_MS) * REFRESH_MS;
  const isReady = warmedMs >= WARM_UP_MS;
  return {
    ip,
    status: isReady ? "ready" : "warming",
    pool: "default",
    poolStatus: "active",
    warmupPercent: isReady ? 100 : Math.floor((100 * warmedMs) / WARM_UP_MS),
    assignedAt: new Date(assignedMs).toISOString(),
    readyAt: isReady ? new Date(assignedMs + WARM_UP_MS).toISOString() : null,
    checkedAt: new Date(assignedMs + warmedMs).toISOString(),
  };
}
