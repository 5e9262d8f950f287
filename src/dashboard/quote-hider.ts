import type { Pieces } from "../capture/redact/pieces.js";
import type { InboxOperator } from "../store/inbox-operator.js";
import type { ContactEventCall, OutboxView } from "../store/outbox.js";
import type { ShownPayload } from "./api/event.js";
import type { PayloadAccess } from "./api/session.js";
import { BegunWork } from "./begun-work.js";
import { TextGlance } from "./text-glance.js";
import { digestOf, KeptTexts } from "./kept-texts.js";
import { type LoopShare, type Presence, checkPresent } from "./loop-share.js";
import { type EventBytes, MAX_REDACTED_BYTES, type PersonalData, type ShownContactEvent } from "./personal-data.js";
import { HIDDEN_TEXT, PREPARING_TEXT, type ShowTexts, TOO_LARGE_TEXT, TOO_MUCH_TEXT, showWith } from "./show-error.js";

/** For whom something is made. */
export interface Reader {
  rule: PayloadAccess;
  /** Aborts once the client has gone. */
  signal: Presence;
  /** Of a view, which shows in its place what is not ready soon. @default all texts are waited for */
  glance?: TextGlance | undefined;
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

/** Texts without what they quote; one for each, undefined while that is not known. */
type HideQuotes = (texts: readonly string[]) => Pieces<(string | undefined)[]>;
/** What hides quotes in the texts of rows, by their ids. */
type FindHiders = (ids: readonly string[]) => Promise<(id: string) => HideQuotes>;

/** Few, since each person who waits holds them. */
const BODIES_TOGETHER = 4;
/** Texts as they are shown, as pages read the same errors each second. Of one answer, {@link TextGlance} has less. */
const MAX_KEPT_CHARACTERS = 5_000_000;

/** Hides in errors and other texts what they quote, by how much of payloads may be seen. */
export class QuoteHider {
  readonly #personal: PersonalData;
  readonly #share: LoopShare;
  readonly #kept = new KeptTexts(MAX_KEPT_CHARACTERS);
  readonly #begun: BegunWork<QuotingRow<unknown>>;

  /** @param isOver True once the receiver stops: what is begun does not go on then. */
  constructor(personal: PersonalData, share: LoopShare, isOver: () => boolean = () => false) {
    this.#personal = personal;
    this.#share = share;
    this.#begun = new BegunWork({ now: () => share.time.now(), isOver });
  }

  /** For one answer to a view: its time begins now. */
  glance(): TextGlance {
    return new TextGlance(this.#share.time);
  }

  /** Rows of events. It reads the bodies that it needs, but for those that are gone or too large to redact. */
  showAll<Value>(
    inbox: Pick<InboxOperator, "readBodies">,
    rows: readonly QuotingRow<Value>[],
    reader: Reader,
  ): Promise<Value[]> {
    const findHiders: FindHiders = async (ids) => {
      const bodies = await inbox.readBodies({ ids, maxBytes: MAX_REDACTED_BYTES });
      return (id) => this.#hideBy(bodies.get(id));
    };
    return this.#showRows(rows, findHiders, reader);
  }

  /** A row of an event: with names and places of errors alone where there is no body to compare them with. */
  show<Value>(row: QuotingRow<Value>, body: Uint8Array | undefined, reader: Reader): Promise<Value> {
    return this.#showOne(row, this.#hideBy(body), reader);
  }

  /** Contact events. What the API answered to one may quote any other of its call. */
  contactEvents(
    inbox: Pick<InboxOperator, "readCalls">,
    views: readonly OutboxView[],
    reader: Reader,
  ): Promise<ShownContactEvent[]> {
    const rows = views.map((view) => ({
      id: `outbox ${view.key}`,
      make: (show: ShowTexts) => this.#personal.contactEvent(view, reader.rule, show),
    }));
    const viewOf = new Map(views.map((view) => [`outbox ${view.key}`, view]));
    const findHiders: FindHiders = async (ids) => {
      const seqs = ids.flatMap((id) => viewOf.get(id)?.seq ?? []);
      const calls = await inbox.readCalls({ seqs });
      return (id) => {
        const { seq = -1, state } = viewOf.get(id) ?? {};
        const call = calls.get(seq);
        if (call === undefined || call.state !== state) return hideNow;
        return (texts) => this.#hideInCall(call, texts);
      };
    };
    return this.#showRows(rows, findHiders, reader);
  }

  /** The payload of an event as far as it may be shown. */
  async payload(
    { body, ...event }: Omit<EventBytes, "body"> & { body: Uint8Array | undefined },
    reader: Reader,
  ): Promise<ShownPayload> {
    const shown = this.#personal.payload(body, reader.rule);
    if (body === undefined || shown.kind !== "redacted") return shown;
    const row = { id: `payload ${event.id}`, make: ({ text }: ShowTexts) => text("") };
    const hide = () => this.#redacted({ ...event, body });
    const text = await this.#showOne(row, hide, { ...reader, rule: "redacted" });
    return text === PREPARING_TEXT ? { ...shown, kind: "preparing" } : { ...shown, text };
  }

  *#redacted(event: EventBytes): Pieces<string[]> {
    return [(yield* this.#personal.redacted(event)) ?? TOO_LARGE_TEXT];
  }

  #hideBy(body: Uint8Array | undefined): HideQuotes {
    return body === undefined ? hideAll : (texts) => this.#personal.hideQuotes(texts, body);
  }

  /** Once for all events of a call, which have the same error. */
  *#hideInCall({ bodies }: ContactEventCall, texts: readonly string[]): Pieces<(string | undefined)[]> {
    const hide: HideQuotes = (left) => this.#personal.hideQuotesOfContactEvents(left, bodies);
    const shown = yield* this.#hide(`call ${digestOf(...bodies)}`, texts, hide);
    return texts.map((text) => shown.get(text));
  }

  async #showOne<Value>(row: QuotingRow<Value>, hide: HideQuotes, reader: Reader): Promise<Value> {
    const [shown = row.make(showWith(() => HIDDEN_TEXT))] = await this.#showRows(
      [row],
      () => Promise.resolve(() => hide),
      reader,
    );
    return shown;
  }

  async #showRows<Value>(
    rows: readonly QuotingRow<Value>[],
    findHiders: FindHiders,
    { rule, signal, glance }: Reader,
  ): Promise<Value[]> {
    if (glance === undefined) return this.#completeAll(rows, findHiders, { rule, signal });
    checkPresent(signal);
    const complete = (some: readonly QuotingRow<unknown>[], wanted: Presence) =>
      this.#completeAll(some, findHiders, { rule, signal: wanted });
    return this.#glanceAt(rows, complete, { rule, glance });
  }

  /** The rows with what is ready soon; `complete` makes the others ready for the next time. */
  async #glanceAt<Value>(
    rows: readonly QuotingRow<Value>[],
    complete: (rows: readonly QuotingRow<unknown>[], wanted: Presence) => Promise<unknown>,
    { rule, glance }: { rule: PayloadAccess; glance: TextGlance },
  ): Promise<Value[]> {
    const looks = rows.map((row) => this.#look(row, rule));
    const fitting = new Set(looks.filter((look) => glance.takeRoom(charactersOf(look))));
    const lacking = [...fitting].filter(lacksTexts);
    if (lacking.length > 0) {
      const items = new Map(lacking.map(({ row, missing }) => [digestOf(row.id, ...missing), row]));
      await Promise.race([this.#begun.ask(items, complete), glance.over()]);
    }
    return looks.map((look) => {
      const { row } = look;
      if (!fitting.has(look)) return row.make(showWith(() => TOO_MUCH_TEXT));
      const { value, missing } = lacksTexts(look) ? this.#look(row, rule) : look;
      if (missing.length > 0) glance.noteMissing();
      return value;
    });
  }

  async #completeAll<Value>(
    rows: readonly QuotingRow<Value>[],
    findHiders: FindHiders,
    { rule, signal }: Reader,
  ): Promise<Value[]> {
    const shown: Value[] = [];
    for (let at = 0; at < rows.length; at += BODIES_TOGETHER) {
      checkPresent(signal);
      const looks = rows.slice(at, at + BODIES_TOGETHER).map((row) => this.#look(row, rule));
      const ids = looks.filter(lacksTexts).map(({ row }) => row.id);
      const hiderOf = ids.length === 0 ? () => hideAll : await findHiders(ids);
      for (const look of looks) shown.push(await this.#complete(look, hiderOf(look.row.id), signal));
    }
    return shown;
  }

  /** The row with the texts that it lacked. */
  async #complete<Value>(
    { row: { id, make }, value, known, missing }: RowLook<Value>,
    hide: HideQuotes,
    signal: Presence,
  ): Promise<Value> {
    checkPresent(signal);
    if (missing.length === 0) return value;
    const shown = await this.#share.run(() => this.#hide(id, missing, hide), signal);
    return make(showWith((text) => shown.get(text) ?? known.get(text) ?? HIDDEN_TEXT));
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
      const each = hidden[index];
      if (each === undefined) continue;
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
      return kept ?? PREPARING_TEXT;
    };
    return { row, value: make(showWith(hide)), known, missing: [...missing] };
  }
}

const lacksTexts = ({ missing }: RowLook<unknown>): boolean => missing.length > 0;

const charactersOf = ({ known, missing }: RowLook<unknown>): number =>
  [...known.keys(), ...missing].reduce((sum, { length }) => sum + length, 0);

/** What has changed since it was listed may be of another call: its texts are shown when it is listed again. */
function* hideNow(texts: readonly string[]): Pieces<undefined[]> {
  yield texts.length;
  return texts.map(() => undefined);
}

/** Without a body nothing is known of what texts quote. */
function* hideAll(texts: readonly string[]): Pieces<string[]> {
  yield texts.length;
  return texts.map(() => HIDDEN_TEXT);
}
