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
  const broadcast = new MailLane("broadcast", clock);
  const lanes = [new MailLane("transactional", clock), broadcast];
  const bodies = (): object[] => lanes.map((lane) => lane.body());
  const assignedMs = clock.now();
  const ipBody = (ip: string): object => dedicatedIpBody(ip, { assignedMs, nowMs: clock.now() });
  const ips = options.dedicatedIps.map((ip) => ip.toLowerCase());
  return {
    handlers: {
      streams: () => ({ data: bodies() }),
      resume: () => broadcast.resume(),
      dedicatedIps: () => ({ data: ips.map(ipBody) }),
      dedicatedIp({ params }) {
        const ip = params.ip.toLowerCase();
        if (ips.includes(ip)) return ipBody(ip);
        throw new SandboxApiError({ code: "resource_not_found" });
      },
    },
    rows: () => [...bodies(), ...ips.map(ipBody)],
    reset() {
      for (const lane of lanes) lane.reset();
    },
    onEvent(event) {
      for (const lane of lanes) lane.note(event);
    },
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

/**
 * A lane of outgoing mail, whose figures come from events over the last 7 days. Each recipient of a message counts
 * once, from the last event about them, whatever became of the message. See docs/service.md#sending-lanes.
 */
class MailLane {
  readonly #stream: SendingLane["stream"];
  readonly #clock: Clock;
  // In the order of `atMs`, so that those who leave the window come first.
  readonly #recipients = new Map<string, { atMs: number; fates: ReadonlySet<Fate> }>();
  #state = ACTIVE;

  constructor(stream: "transactional" | "broadcast", clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  /** Counts the recipients of an event whose `stream` names the lane, and pauses the broadcast lane on poor figures. */
  note({ id, type, data }: SandboxEvent): void {
    const fate = FATES.get(type);
    if (fate === undefined || data["stream"] !== this.#stream) return;
    const message = typeof data["messageId"] === "string" ? data["messageId"] : id;
    const atMs = this.#clock.now();
    this.#forgetBefore(atMs);
    for (const address of recipientsOf(type, data)) {
      const key = `${message}\0${foldAddress(address)}`;
      const fates = new Set([...(this.#recipients.get(key)?.fates ?? []), fate]);
      this.#recipients.delete(key);
      this.#recipients.set(key, { atMs, fates });
    }
    // Good news too: it may be what reaches enough recipients.
    if (this.#stream === "broadcast") this.#pauseOnPoorFigures(atMs);
  }

  /** The lane as the API sends it. */
  body(): object {
    const isHeld = this.#stream === "broadcast";
    const { bounceRate, complaintRate } = LANE_LIMITS;
    return {
      stream: this.#stream,
      status: this.#state.pausedAt === null ? "active" : "paused",
      ...this.#state,
      window: this.#figuresAt(this.#clock.now()),
      limits: isHeld ? { bounceRate, complaintRate, minRecipients: MIN_RECIPIENTS } : null,
    };
  }

  /** Resumes the lane, whose count restarts. Throws 409 `stream_not_paused`. */
  resume(): object {
    if (this.#state.pausedAt === null) throw new SandboxApiError({ code: "stream_not_paused" });
    this.#recipients.clear();
    this.#state = { ...ACTIVE, resumedAt: isoNow(this.#clock) };
    return this.body();
  }

  /** The lane is active, and has reached nobody. */
  reset(): void {
    this.#recipients.clear();
    this.#state = ACTIVE;
  }

  #pauseOnPoorFigures(nowMs: number): void {
    const { recipients, bounceRate, complaintRate } = this.#figuresAt(nowMs);
    if (this.#state.pausedAt !== null || recipients < MIN_RECIPIENTS) return;
    const isBounced = bounceRate > LANE_LIMITS.bounceRate;
    if (!isBounced && complaintRate <= LANE_LIMITS.complaintRate) return;
    const pausedReason = isBounced ? "bounce-rate" : "complaint-rate";
    this.#state = { ...this.#state, pausedAt: new Date(nowMs).toISOString(), pausedReason };
  }

  /** Forgets who has left the window. */
  #forgetBefore(nowMs: number): void {
    for (const [key, { atMs }] of this.#recipients) {
      if (atMs > nowMs - WINDOW_MS) break;
      this.#recipients.delete(key);
    }
  }

  #figuresAt(nowMs: number): NonNullable<SendingLane["window"]> {
    this.#forgetBefore(nowMs);
    const all = [...this.#recipients.values()];
    const countOf = (fate: Fate): number => all.filter(({ fates }) => fates.has(fate)).length;
    const rateOf = (of: number): number => (all.length === 0 ? 0 : of / all.length);
    const [bounced, complained] = [countOf("bounced"), countOf("complained")];
    const rates = { bounceRate: rateOf(bounced), complaintRate: rateOf(complained) };
    return { recipients: all.length, bounced, complained, ...rates };
  }
}

/** The addresses that an event of a message is about. */
function recipientsOf(type: string, data: Readonly<Record<string, unknown>>): string[] {
  const { recipient } = data;
  if (type !== "email.sent" && typeof recipient === "string") return bareAddresses([recipient]);
  const fields = ["to", "cc", "bcc"].flatMap((field) => data[field]);
  return bareAddresses(fields.filter((value) => typeof value === "string"));
}
