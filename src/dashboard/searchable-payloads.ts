import { createHash } from "node:crypto";
import type { Pieces } from "../capture/redact/pieces.js";
import type { LoopShare, Presence } from "./loop-share.js";
import type { EventBytes, PersonalData } from "./personal-data.js";

/** Of all texts together: 100 payloads of the largest kind, or thousands of usual ones. At most 32 MB. */
const MAX_KEPT_CHARACTERS = 16_000_000;

/** What searches in payloads work with. */
export interface SearchablePayloadTools {
  personal: Pick<PersonalData, "redacted">;
  share: LoopShare;
  /** Characters of all texts that are kept. @default 16,000,000 */
  mostKept?: number;
}

/**
 * Payloads as searches compare them: without personal data, in small letters. Each is redacted once for all searches,
 * as long as there is room; those that were not looked at for the longest go first.
 */
export class SearchablePayloads {
  readonly #tools: Required<SearchablePayloadTools>;
  /** By the digests of their bodies, so that the store says each time which body there is. */
  readonly #kept = new Map<string, string>();
  #characters = 0;

  constructor(tools: SearchablePayloadTools) {
    this.#tools = { mostKept: MAX_KEPT_CHARACTERS, ...tools };
  }

  /** True when the payload has the text, in any case of its letters. Rejects as {@link LoopShare.run} does. */
  holds(event: EventBytes, text: string, presence: Presence): Promise<boolean> {
    return this.#tools.share.run(() => this.#look(event, text.trim().toLowerCase()), presence);
  }

  *#look(event: EventBytes, needle: string): Pieces<boolean> {
    const key = createHash("sha256").update(event.body).digest("base64");
    yield event.body.byteLength;
    const kept = this.#kept.get(key);
    const text = kept ?? ((yield* this.#tools.personal.redacted(event)) ?? "").toLowerCase();
    this.#keep(key, text);
    return text.includes(needle);
  }

  /** As the newest. */
  #keep(key: string, text: string): void {
    if (this.#kept.delete(key)) this.#characters -= sizeOf(key, text);
    this.#kept.set(key, text);
    this.#characters += sizeOf(key, text);
    for (const [oldest, value] of this.#kept) {
      if (this.#characters <= this.#tools.mostKept) return;
      this.#kept.delete(oldest);
      this.#characters -= sizeOf(oldest, value);
    }
  }
}

const sizeOf = (key: string, text: string): number => key.length + text.length;
