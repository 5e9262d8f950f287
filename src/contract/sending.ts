import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf } from "./paging.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum, pathSegment } from "./shapes.js";

/** When the broadcast lane pauses itself. See docs/service.md#sending-lanes. */
export const LANE_LIMITS = { windowDays: 7, bounceRate: 0.04, complaintRate: 0.002 } as const;

/** A lane of outgoing mail. */
const sendingLane = z.looseObject({
  stream: openEnum(["transactional", "broadcast"]),
  /** The transactional lane is always active. */
  status: openEnum(["active", "paused"]),
  pausedAt: nullable(z.string()),
  pausedReason: nullable(z.string()),
  resumedAt: nullable(z.string()),
  /** Figures of the last 7 days, since the last resume. */
  window: nullable(
    z.looseObject({
      recipients: z.number().default(0),
      bounced: z.number().default(0),
      complained: z.number().default(0),
      /** Bounced of all recipients, 0 to 1. */
      bounceRate: z.number().default(0),
      /** Complained of all recipients, 0 to 1. */
      complaintRate: z.number().default(0),
    }),
  ),
  /** What the broadcast lane is held to; its fields are not documented. */
  limits: nullable(z.looseObject({})),
});

/** An IP address that sends for this workspace alone. */
const dedicatedIp = z.looseObject({
  ip: z.string(),
  /** `warming` until `warmupPercent` is 100. */
  status: openEnum(["warming", "ready"]),
  pool: nullable(z.string()),
  poolStatus: nullable(z.string()),
  /** 0 to 100; refreshed every few minutes. */
  warmupPercent: z.number().default(0),
  assignedAt: nullable(z.string()),
  readyAt: nullable(z.string()),
  checkedAt: nullable(z.string()),
});

/** A lane of outgoing mail with its figures. */
export type SendingLane = z.output<typeof sendingLane>;
const rows = createRows({ all: "/sending", scopes: ["domains:read", "domains:write"] });

/** Lanes of outgoing mail, and dedicated IPs. See docs/service.md#sending-lanes. */
export const sending = {
  /** Reads both lanes with their figures of the last 7 days. */
  streams: rows.read("/sending/streams", listOf(sendingLane), {
    doc: "Reads both lanes with their figures of the last 7 days.",
    scope: "emails:read",
  }),
  /** Resumes the paused broadcast lane, and restarts its count of 7 days. */
  resume: rows.act("/sending/streams/{stream}/resume", sendingLane, {
    doc: "Resumes the paused broadcast lane, and restarts its count of 7 days.",
    ownerOnly: true,
    stepUp: true,
    params: z.strictObject({ stream: z.literal("broadcast", { error: "Must be broadcast." }) }),
    errors: ["stream_not_paused"],
    example: { params: { stream: "broadcast" } },
  }),
  /** Lists the dedicated IPs; none without the add-on. */
  dedicatedIps: rows.read("/sending/dedicated-ips", listOf(dedicatedIp), {
    doc: "Lists the dedicated IPs; none without the add-on.",
  }),
  /** Reads one dedicated IP. */
  dedicatedIp: rows.read("/sending/dedicated-ips/{ip}", dedicatedIp, {
    doc: "Reads one dedicated IP.",
    params: z.strictObject({ ip: pathSegment(64) }),
    example: { params: { ip: "192.0.2.10" } },
  }),
} as const satisfies Resource;
