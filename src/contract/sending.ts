import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { nullable, openEnum, pathSegment } from "./shapes.js";

/** When the broadcast lane pauses itself. See docs/service.md#sending-lanes. */
export const LANE_LIMITS = { windowDays: 7, bounceRate: 0.04, complaintRate: 0.002 } as const;

const laneWindow = z.looseObject({
  recipients: z.number().default(0),
  bounced: z.number().default(0),
  complained: z.number().default(0),
  /** Bounced of all recipients, 0 to 1. */
  bounceRate: z.number().default(0),
  /** Complained of all recipients, 0 to 1. */
  complaintRate: z.number().default(0),
});

/** A lane of outgoing mail. */
const sendingLane = z.looseObject({
  stream: openEnum(["transactional", "broadcast"]),
  /** The transactional lane is always active. */
  status: openEnum(["active", "paused"]),
  pausedAt: nullable(z.string()),
  pausedReason: nullable(z.string()),
  resumedAt: nullable(z.string()),
  /** Figures of the last 7 days, since the last resume. */
  window: nullable(laneWindow),
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
/** Lanes of outgoing mail, and dedicated IPs. See docs/service.md#sending-lanes. */
export const sending = {
  /** Reads both lanes with their figures of the last 7 days. */
  streams: {
    ...ROW_KINDS.read,
    path: "/sending/streams",
    scope: "emails:read",
    result: listOf(sendingLane),
    doc: "Reads both lanes with their figures of the last 7 days.",
  },
  /** Resumes the paused broadcast lane, and restarts its count of 7 days. */
  resume: {
    ...ROW_KINDS.act,
    path: "/sending/streams/{stream}/resume",
    scope: "domains:write",
    ownerOnly: true,
    stepUp: true,
    params: z.strictObject({ stream: z.literal("broadcast", { error: "Must be broadcast." }) }),
    result: sendingLane,
    errors: ["stream_not_paused"],
    doc: "Resumes the paused broadcast lane, and restarts its count of 7 days.",
    example: { params: { stream: "broadcast" } },
  },
  /** Lists the dedicated IPs; none without the add-on. */
  dedicatedIps: {
    ...ROW_KINDS.read,
    path: "/sending/dedicated-ips",
    scope: "domains:read",
    result: listOf(dedicatedIp),
    doc: "Lists the dedicated IPs; none without the add-on.",
  },
  /** Reads one dedicated IP. */
  dedicatedIp: {
    ...ROW_KINDS.read,
    path: "/sending/dedicated-ips/{ip}",
    scope: "domains:read",
    params: z.strictObject({ ip: pathSegment(64) }),
    result: dedicatedIp,
    doc: "Reads one dedicated IP.",
    example: { params: { ip: "192.0.2.10" } },
  },
} as const satisfies Resource;
