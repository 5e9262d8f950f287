import { DAY } from "../../base/duration.js";
import { LANE_LIMITS } from "../../contract/sending.js";

const WINDOW_MS = LANE_LIMITS.windowDays * DAY;

/** What happened to a recipient of a message. */
export type Fate = "reached" | "bounced" | "complained";

/** The figures of a lane as the API shows them; rates are 0 to 1. */
export interface LaneWindow {
  recipients: number;
  bounced: number;
  complained: number;
  bounceRate: number;
  complaintRate: number;
}

/**
 * The recipients of one lane over the last 7 days. Each recipient of a message counts once, from the last event about
 * them, whatever became of the message.
 */
export class LaneFigures {
  readonly #recipients = new Map<string, { atMs: number; fates: ReadonlySet<Fate> }>();

  /** `key`: one recipient of one message. */
  note(key: string, fate: Fate, atMs: number): void {
    const { fates = [] } = this.#recipients.get(key) ?? {};
    this.#recipients.set(key, { atMs, fates: new Set([...fates, fate]) });
  }

  /** The figures of the 7 days before this time. */
  at(nowMs: number): LaneWindow {
    for (const [key, { atMs }] of this.#recipients) if (atMs <= nowMs - WINDOW_MS) this.#recipients.delete(key);
    const recipients = this.#recipients.size;
    const count = (fate: Fate): number => [...this.#recipients.values()].filter(({ fates }) => fates.has(fate)).length;
    const rateOf = (of: number): number => (recipients === 0 ? 0 : of / recipients);
    const [bounced, complained] = [count("bounced"), count("complained")];
    return { recipients, bounced, complained, bounceRate: rateOf(bounced), complaintRate: rateOf(complained) };
  }

  /** Counts from now on. */
  clear(): void {
    this.#recipients.clear();
  }
}
