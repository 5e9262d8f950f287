import { DAY } from "../../base/duration.js";
import { LANE_LIMITS } from "../../contract/sending.js";

const WINDOW_MS = LANE_LIMITS.windowDays * DAY;

/** What happened to a recipient of a message. */
export type Fate = "reached" | "bounced" | "complained";

/** The figures of a lane as the API shows them. */
export interface LaneWindow {
  recipients: number;
  bounced: number;
  complained: number;
  /** 0 to 1. */
  bounceRate: number;
  /** 0 to 1. */
  complaintRate: number;
}

interface Recipient {
  atMs: number;
  fates: Set<Fate>;
}

/**
 * The recipients of one lane over the last 7 days. Each recipient of a message counts once, from the last event about
 * them, whatever became of the message. Notes take constant time, so that a flood of events does.
 */
export class LaneFigures {
  // In the order of `atMs`, so that those who leave the window come first.
  readonly #recipients = new Map<string, Recipient>();
  readonly #counts = { bounced: 0, complained: 0 };

  /** `key`: one recipient of one message. */
  note(key: string, fate: Fate, atMs: number): void {
    this.#forgetBefore(atMs - WINDOW_MS);
    const known = this.#remove(key);
    this.#add(key, { atMs, fates: new Set([...(known?.fates ?? []), fate]) });
  }

  /** The figures of the 7 days before this time. */
  at(nowMs: number): LaneWindow {
    this.#forgetBefore(nowMs - WINDOW_MS);
    const { bounced, complained } = this.#counts;
    const recipients = this.#recipients.size;
    const rateOf = (count: number): number => (recipients === 0 ? 0 : count / recipients);
    return { recipients, bounced, complained, bounceRate: rateOf(bounced), complaintRate: rateOf(complained) };
  }

  /** Counts from now on. */
  clear(): void {
    this.#recipients.clear();
    this.#counts.bounced = 0;
    this.#counts.complained = 0;
  }

  #forgetBefore(limitMs: number): void {
    for (const [key, { atMs }] of this.#recipients) {
      if (atMs > limitMs) return;
      this.#remove(key);
    }
  }

  #add(key: string, recipient: Recipient): void {
    this.#recipients.set(key, recipient);
    this.#count(recipient, 1);
  }

  #remove(key: string): Recipient | undefined {
    const known = this.#recipients.get(key);
    if (known === undefined) return undefined;
    this.#recipients.delete(key);
    this.#count(known, -1);
    return known;
  }

  #count({ fates }: Recipient, by: number): void {
    if (fates.has("bounced")) this.#counts.bounced += by;
    if (fates.has("complained")) this.#counts.complained += by;
  }
}
