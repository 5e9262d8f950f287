import type { Clock } from "../../base/clock.js";
import { DAY, MINUTE } from "../../base/duration.js";
import { foldAddress } from "../../contract/contact-address.js";
import { LANE_LIMITS, type SendingLane } from "../../contract/sending.js";
import type { EventType } from "../../protocol/event-types.js";
import { bareAddresses } from "../api/addresses.js";
import { SandboxApiError } from "../api/api-handlers.js";
import { isoNow } from "../clock/sandbox-time.js";
import type { SandboxEvent } from "../delivery/scheduled-delivery.js";
import type { SandboxResource, Workspace } from "./resource.js";

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

const WINDOW_MS = LANE_LIMITS.windowDays * DAY;

/** What happened to a recipient of a message. */
type Fate = "reached" | "bounced" | "complained";

type LaneWindow = NonNullable<SendingLane["window"]>;

/**
 * The recipients of one lane over the last 7 days. Each recipient of a message counts once, from the last event about
 * them, whatever became of the message.
 */
class LaneFigures {
  // In the order of `atMs`, so that those who leave the window come first.
  readonly #recipients = new Map<string, { atMs: number; fates: ReadonlySet<Fate> }>();

  /** `key`: one recipient of one message. */
  note(key: string, fate: Fate, atMs: number): void {
    this.#forgetBefore(atMs);
    const fates = new Set([...(this.#recipients.get(key)?.fates ?? []), fate]);
    this.#recipients.delete(key);
    this.#recipients.set(key, { atMs, fates });
  }

  /** The figures of the 7 days before this time; what is older is forgotten. */
  at(nowMs: number): LaneWindow {
    this.#forgetBefore(nowMs);
    const all = [...this.#recipients.values()];
    const countOf = (fate: Fate): number => all.filter(({ fates }) => fates.has(fate)).length;
    const rateOf = (of: number): number => (all.length === 0 ? 0 : of / all.length);
    const [bounced, complained] = [countOf("bounced"), countOf("complained")];
    return {
      recipients: all.length,
      bounced,
      complained,
      bounceRate: rateOf(bounced),
      complaintRate: rateOf(complained),
    };
  }

  #forgetBefore(nowMs: number): void {
    for (const [key, { atMs }] of this.#recipients) {
      if (atMs > nowMs - WINDOW_MS) break;
      this.#recipients.delete(key);
    }
  }

  /** Counts from now on. */
  clear(): void {
    this.#recipients.clear();
  }
}

const STREAMS = ["transactional", "broadcast"] as const;
type Stream = (typeof STREAMS)[number];

/** The events that count into a lane. */
const FATES: ReadonlyMap<string, Fate> = new Map<EventType, Fate>([
  ["email.sent", "reached"],
  ["email.delivered", "reached"],
  ["email.bounced", "bounced"],
  ["email.complained", "complained"],
]);

/** From so many recipients on, poor figures pause the lane; the number is not documented. */
const MIN_RECIPIENTS = 100;

interface LaneState {
  pausedAt: string | null;
  pausedReason: string | null;
  resumedAt: string | null;
}

const ACTIVE: LaneState = { pausedAt: null, pausedReason: null, resumedAt: null };

/** The two lanes of outgoing mail. Their figures come from events. See docs/service.md#sending-lanes. */
class SendingLanes {
  readonly #clock: Clock;
  readonly #figures = { transactional: new LaneFigures(), broadcast: new LaneFigures() };
  #broadcast = ACTIVE;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Both lanes as the API sends them. */
  list(): object[] {
    return STREAMS.map((stream) => this.#bodyOf(stream));
  }

  /** Counts the recipients of an event into the lane that its `stream` names, and pauses the lane on poor figures. */
  note({ id, type, data }: SandboxEvent): void {
    const fate = FATES.get(type);
    const stream = STREAMS.find((one) => one === data["stream"]);
    if (fate === undefined || stream === undefined) return;
    const message = typeof data["messageId"] === "string" ? data["messageId"] : id;
    const nowMs = this.#clock.now();
    for (const address of recipientsOf(type, data)) {
      this.#figures[stream].note(`${message}\0${foldAddress(address)}`, fate, nowMs);
    }
    // Good news too: it may be what reaches enough recipients.
    if (stream === "broadcast") this.#pauseOnPoorFigures(nowMs);
  }

  /** Resumes the broadcast lane, whose count restarts. Throws 409 `stream_not_paused`. */
  resume(): object {
    if (this.#broadcast.pausedAt === null) throw new SandboxApiError({ code: "stream_not_paused" });
    this.#figures.broadcast.clear();
    this.#broadcast = { ...ACTIVE, resumedAt: isoNow(this.#clock) };
    return this.#bodyOf("broadcast");
  }

  /** Both lanes are active, and have reached nobody. */
  reset(): void {
    for (const stream of STREAMS) this.#figures[stream].clear();
    this.#broadcast = ACTIVE;
  }

  #pauseOnPoorFigures(nowMs: number): void {
    if (this.#broadcast.pausedAt !== null) return;
    const { recipients, bounceRate, complaintRate } = this.#figures.broadcast.at(nowMs);
    if (recipients < MIN_RECIPIENTS) return;
    const isBounced = bounceRate > LANE_LIMITS.bounceRate;
    if (!isBounced && complaintRate <= LANE_LIMITS.complaintRate) return;
    const pausedReason = isBounced ? "bounce-rate" : "complaint-rate";
    this.#broadcast = { ...this.#broadcast, pausedAt: new Date(nowMs).toISOString(), pausedReason };
  }

  #bodyOf(stream: Stream): object {
    const state = stream === "broadcast" ? this.#broadcast : ACTIVE;
    const { bounceRate, complaintRate } = LANE_LIMITS;
    return {
      stream,
      status: state.pausedAt === null ? "active" : "paused",
      ...state,
      window: this.#figures[stream].at(this.#clock.now()),
      limits: stream === "broadcast" ? { bounceRate, complaintRate, minRecipients: MIN_RECIPIENTS } : null,
    };
  }
}

/** The addresses that an event of a message is about. */
function recipientsOf(type: string, data: Readonly<Record<string, unknown>>): string[] {
  const { recipient } = data;
  if (type !== "email.sent" && typeof recipient === "string") return bareAddresses([recipient]);
  const fields = ["to", "cc", "bcc"].flatMap((field) => data[field]);
  return bareAddresses(fields.filter((value) => typeof value === "string"));
}
