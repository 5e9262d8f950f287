import type { Clock } from "../../base/clock.js";
import { DAY, MINUTE } from "../../base/duration.js";
import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, defineOptions, given, number, readBy, required } from "../../base/options.js";
import { SandboxApiError } from "../api/api-handlers.js";

/** A dedicated IP to begin with; the API cannot make one. */
export interface DedicatedIpInput {
  /** The address, such as `192.0.2.10`. */
  ip: string;
  /** Name of its pool. @default "default" */
  pool?: string | undefined;
  /** When it was assigned, ISO 8601. @default the time at which the sandbox begins */
  assignedAt?: string | undefined;
  /** Days from then until it is warm, on the sandbox's clock. @default 30 */
  warmUpDays?: number | undefined;
}

const DEDICATED_IP = defineOptions("A dedicated IP of the sandbox", {
  ip: required<string>(),
  pool: given<string>({ default: "default" }),
  assignedAt: readBy(readTime),
  warmUpDays: number({ min: 0, max: 3650, default: 30 }),
} satisfies OptionsOf<DedicatedIpInput>);

/** The service documents "every few minutes". */
const REFRESH_MS = 5 * MINUTE;

interface DedicatedIpRow {
  ip: string;
  pool: string;
  assignedMs: number;
  /** When it was warm at the first refresh. */
  readyMs: number;
}

/** The dedicated IPs of the workspace. Time alone warms them. See docs/service.md#dedicated-ips. */
export class DedicatedIps {
  readonly #clock: Clock;
  readonly #rows: readonly DedicatedIpRow[];

  constructor(inputs: readonly DedicatedIpInput[], clock: Clock) {
    this.#clock = clock;
    this.#rows = inputs.map((input) => {
      const { ip, pool, assignedAt, warmUpDays } = DEDICATED_IP.resolve(input);
      const assignedMs = assignedAt ?? clock.now();
      const readyMs = assignedMs + Math.ceil((warmUpDays * DAY) / REFRESH_MS) * REFRESH_MS;
      return { ip: ip.toLowerCase(), pool, assignedMs, readyMs };
    });
  }

  list(): object[] {
    return this.#rows.map((row) => bodyOf(row, this.#clock.now()));
  }

  /** Throws 404 `resource_not_found`. */
  get(ip: string): object {
    const row = this.#rows.find((one) => one.ip === ip.toLowerCase());
    if (row !== undefined) return bodyOf(row, this.#clock.now());
    throw new SandboxApiError({ code: "resource_not_found" });
  }
}

function bodyOf({ ip, pool, assignedMs, readyMs }: DedicatedIpRow, nowMs: number): object {
  const checkedMs = assignedMs + Math.max(0, Math.floor((nowMs - assignedMs) / REFRESH_MS)) * REFRESH_MS;
  const isReady = checkedMs >= readyMs;
  const passed = (checkedMs - assignedMs) / (readyMs - assignedMs);
  return {
    ip,
    status: isReady ? "ready" : "warming",
    pool,
    poolStatus: "active",
    warmupPercent: isReady ? 100 : Math.floor(passed * 100),
    assignedAt: new Date(assignedMs).toISOString(),
    readyAt: isReady ? new Date(readyMs).toISOString() : null,
    checkedAt: new Date(checkedMs).toISOString(),
  };
}

function readTime(option: string, text?: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isFinite(ms)) return ms;
  throw new PigeonholeError("invalid_option", `${option} must be an ISO 8601 date-time, got ${JSON.stringify(text)}.`);
}
