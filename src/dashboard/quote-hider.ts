import type { Pieces } from "../capture/redact/pieces.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { OutboxView } from "../store/outbox.js";
import type { PayloadAccess } from "./api/session.js";
import { KeptTexts } from "./kept-texts.js";
import { type LoopShare, checkPresent } from "./loop-share.js";
import { MAX_REDACTED_BYTES, type PersonalData, type ShownContactEvent } from "./personal-data.js";
import { HIDDEN_TEXT, type ShowTexts, showWith } from "./show-error.js";

/** For whom something is made. */
export interface Reader {
  rule: PayloadAccess;
  /** Aborts once the client has gone. */
  signal: AbortSignal;
}

/** What is made of texts that may quote something, such as the body of an event. */
export interface QuotingRow<Value> {
  /** Of what they may quote. */
  id: string;
  /** May be called several times. */
  make: (show: ShowTexts) => Value;
}

/** A row as far as its texts are kept. */
interface RowLook<Value> {
  row: QuotingRow<Value>;
  /** Whole where none is missing. */
  value: Value;
  /** Kept texts, as they are shown. */
  known: ReadonlyMap<string, string>;
  /** Texts that are not kept. */
  missing: readonly string[];
}

const AS_THEY_ARE: ShowTexts = { error: (error) => error, text: (text) => text };

/** Texts without what they quote; one for each. */
type HideQuotes = (texts: readonly string[]) => Pieces<string[]>;

/** Few, since each person who waits holds them. */
const BODIES_TOGETHER = 4;
/** Texts as they are shown: pages read the same errors each second. */
const MAX_KEPT_CHARACTERS = 2_000_000;

/** Hides in errors and other texts what they quote, by how much of payloads may be seen. */
export class QuoteHider {
  readonly #personal: PersonalData;
  readonly #share: LoopShare;
  readonly #kept = new KeptTexts(MAX_KEPT_CHARACTERS);

  constructor(personal: PersonalData, share: LoopShare) {
    this.#personal = personal;
    this.#share = share;
  }

  /** Rows of events. It reads the bodies that it needs, but for those that are gone or too large to redact. */
  async showAll<Value>(
    inbox: Pick<InboxOperator, "readBodies">,
    rows: readonly QuotingRow<Value>[],
    reader: Reader,
  ): Promise<Value[]> {
    const shown: Value[] = [];
    for (let at = 0; at < rows.length; at += BODIES_TOGETHER) {
      checkPresent(reader.signal);
      const looks = rows.slice(at, at + BODIES_TOGETHER).map((row) => this.#look(row, reader.rule));
      const bodies = await readBodies(inbox, looks.filter(lacksTexts));
      for (const look of looks) shown.push(await this.#complete(look, this.#hideBy(bodies.get(look.row.id)), reader));
    }
    return shown;
  }

  /** A row of an event: with names and places of errors alone where there is no body to compare them with. */
  show<Value>(row: QuotingRow<Value>, body: Uint8Array | undefined, reader: Reader): Promise<Value> {
    return this.#complete(this.#look(row, reader.rule), this.#hideBy(body), reader);
  }

  contactEvent(view: OutboxView, reader: Reader): Promise<ShownContactEvent> {
    const make = (show: ShowTexts) => this.#personal.contactEvent(view, reader.rule, show);
    const hide: HideQuotes = (texts) => this.#personal.hideQuotesOfContactEvent(texts, view.body);
    return this.#complete(this.#look({ id: `outbox ${view.key}`, make }, reader.rule), hide, reader);
  }

  #hideBy(body: Uint8Array | undefined): HideQuotes | undefined {
    return body === undefined ? undefined : (texts) => this.#personal.hideQuotes(texts, body);
  }

  /** The row with the texts that it lacked. */
  async #complete<Value>(
    { row: { id, make }, value, known, missing }: RowLook<Value>,
    hide: HideQuotes | undefined,
    { signal }: Reader,
  ): Promise<Value> {
    checkPresent(signal);
    if (missing.length === 0) return value;
    const shown = hide && (await this.#share.run(() => this.#hide(id, missing, hide), signal));
    return make(showWith((text) => shown?.get(text) ?? known.get(text) ?? HIDDEN_TEXT));
  }

  *#hide(id: string, texts: readonly string[], hide: HideQuotes): Pieces<ReadonlyMap<string, string>> {
    const shown = new Map<string, string>();
    // Another reader may have waited for the same.
    const left = texts.filter((text) => {
      const kept = this.#kept.get(id, text);
      if (kept !== undefined) shown.set(text, kept);
      return kept === undefined;
    });
    const hidden = left.length === 0 ? [] : yield* hide(left);
    for (const [index, text] of left.entries()) {
      const each = hidden[index] ?? HIDDEN_TEXT;
      shown.set(text, each);
      this.#kept.set(id, text, each);
    }
    return shown;
  }

  /** Makes the row with the texts that are kept. */
  #look<Value>(row: QuotingRow<Value>, rule: PayloadAccess): RowLook<Value> {
    const { id, make } = row;
    const known = new Map<string, string>();
    if (rule === "full") return { row, value: make(AS_THEY_ARE), known, missing: [] };
    if (rule === "hidden") return { row, value: make(showWith(() => HIDDEN_TEXT)), known, missing: [] };
    const missing = new Set<string>();
    const hide = (text: string): string => {
      const kept = this.#kept.get(id, text);
      if (kept === undefined) missing.add(text);
      else known.set(text, kept);
      return kept ?? HIDDEN_TEXT;
    };
    return { row, value: make(showWith(hide)), known, missing: [...missing] };
  }
}

const lacksTexts = ({ missing }: RowLook<unknown>): boolean => missing.length > 0;

async function readBodies(
  inbox: Pick<InboxOperator, "readBodies">,
  looks: readonly RowLook<unknown>[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const ids = looks.map(({ row }) => row.id);
  return ids.length === 0 ? new Map() : inbox.readBodies({ ids, maxBytes: MAX_REDACTED_BYTES });
}
