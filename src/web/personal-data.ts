import { createHmac, createCipheriv, createDecipheriv, timingSafeEqual } from "node:crypto";
import type { Capture } from "../capture/model/capture.js";
import { fromInbox } from "../capture/model/from-inbox.js";
import { findSubject } from "../capture/model/summarize-capture.js";
import { createFakeValues } from "../capture/redact/fake-values.js";
import { type RedactionRules, redactValue } from "../capture/redact/redact-value.js";
import { createRedactor } from "../capture/redact/redactor.js";
import { SHARED_PROFILE } from "../capture/redact/redaction-profiles.js";
import { PageApiError, badField } from "./page-api-error.js";
import type { OutboxView } from "../store/outbox.js";
import type { ListedContactEvent } from "./api/contact-events.js";
import type { ShownPayload } from "./api/event.js";
import type { PayloadAccess } from "./api/session.js";
import { HIDDEN_TEXT, showTexts } from "./show-error.js";

/** An event whose bytes are there. */
export interface EventBytes {
  id: string;
  type: string;
  receivedAt: string;
  body: Uint8Array;
}

/** Redacting takes the event loop, which deliveries need: larger payloads are shown once they are unveiled only. */
export const MAX_REDACTED_BYTES = 64 * 1024;
/** A code of the service, and the dotted path of a field. */
const SERVICE_CODE = /^[a-z]\w{0,63}$/i;
const FIELD_PATH = /^[a-z]\w*(?:\[\d+\]|\.\w+)*/i;

/** A contact event by itself, without what keeps it back. */
export type ShownContactEvent = Omit<ListedContactEvent, "waitsBehind">;

/** Hides what is personal, with stand-ins that are the same in all processes of a store and in all answers. */
export class PersonalData {
  readonly #rules: RedactionRules;
  readonly #redact: (capture: Capture) => Capture;
  readonly #share: (capture: Capture) => Capture;
  readonly #keys: SealedNames;
  readonly #groups: SealedNames;

  constructor(secret: Uint8Array) {
    const key = createHmac("sha256", secret).update("stand-ins of the dashboard").digest();
    this.#rules = { fakes: createFakeValues(key), strict: false };
    this.#redact = createRedactor({ key });
    this.#share = createRedactor({ key, profile: SHARED_PROFILE });
    this.#keys = new SealedNames(key, "row_");
    this.#groups = new SealedNames(key, "group_");
  }

  contactEvent(view: OutboxView, rule: PayloadAccess): ShownContactEvent {
    const { seq: _, body, ...row } = view;
    const show = showTexts(rule);
    const textOf = (text: string | null): string | null => (text === null ? null : show.text(text));
    const answer = {
      error: row.error === null ? null : show.error(row.error),
      code: row.code === null || SERVICE_CODE.test(row.code) ? row.code : show.text(row.code),
      // The service may put a value behind the name of a field.
      param: rule === "hidden" ? row.param && (FIELD_PATH.exec(row.param)?.[0] ?? HIDDEN_TEXT) : textOf(row.param),
      message: textOf(row.message),
    };
    const shown = { ...row, ...answer, key: this.#keys.nameOf(row.key) };
    if (rule === "full") return { ...shown, idempotencyKey: row.key };
    return { ...shown, idempotencyKey: null, contact: this.#contactOf(partsOfContactEvent(body).fields, rule) };
  }

  /** The key of a contact event by its `key` in {@link contactEvent}, or by itself where it may be seen. */
  contactEventKey(shown: string, rule: PayloadAccess): string | undefined {
    return this.#keys.idOf(shown) ?? (rule === "full" ? shown : undefined);
  }

  /** Email and id are each one value: nothing of them is left, whatever they look like. */
  #contactOf({ email, contactId }: Record<string, unknown>, rule: PayloadAccess): string {
    if (typeof email === "string") return this.#rules.fakes.address(email);
    return String(redactValue(contactId ?? "", "contactId", { ...this.#rules, strict: rule === "hidden" }));
  }

  /** The name of a group of errors, whose id is a digest of their message. */
  errorGroup(id: string): string {
    return this.#groups.nameOf(id);
  }

  /**
   * A choice whose group is as {@link errorGroup} made it, with the group's id. Throws for anything else, but takes the
   * id itself from a person who may see it.
   */
  withErrorGroupId<Choice extends { errorGroup?: string | undefined }>(choice: Choice, rule: PayloadAccess): Choice {
    const { errorGroup: shown } = choice;
    if (shown === undefined) return choice;
    const id = this.#groups.idOf(shown) ?? (rule === "full" ? shown : undefined);
    if (id === undefined) throw badField("errorGroup", "must be a group of errors, as listed.");
    return { ...choice, errorGroup: id };
  }

  /** JSON of a contact event, as far as it may be shown. */
  contactEventBody(body: string, rule: PayloadAccess): string {
    if (rule === "full") return body;
    const { name, fields } = partsOfContactEvent(body);
    if (rule === "hidden") return JSON.stringify({ name });
    const email = typeof fields["email"] === "string" ? { email: this.#contactOf(fields, rule) } : {};
    return JSON.stringify({ name, ...(redactValue(fields, "", this.#rules) as object), ...email });
  }

  /** A payload as far as it may be shown. */
  payload(
    { body, ...event }: Omit<EventBytes, "body"> & { body: Uint8Array | null },
    rule: PayloadAccess,
  ): ShownPayload {
    if (body === null) return { kind: "gone", text: null, bytes: null, canUnveil: false };
    const bytes = body.byteLength;
    const canUnveil = rule === "full";
    if (rule === "hidden") return { kind: "hidden", text: null, bytes, canUnveil };
    const text = this.redacted({ ...event, body }) ?? null;
    return { kind: text === null ? "too_large" : "redacted", text, bytes, canUnveil };
  }

  /** What an event is about, as the person may see it; null where its payload does not say it. */
  subject(event: EventBytes, rule: "redacted" | "full"): string | null {
    const capture = fromInbox(event);
    return findSubject(rule === "full" ? capture : this.#redact(capture)) || null;
  }

  /** The payload's text without personal data; undefined for one that is too large. */
  redacted(event: EventBytes): string | undefined {
    if (event.body.byteLength > MAX_REDACTED_BYTES) return undefined;
    const { data, encoding } = this.#redact(fromInbox(event)).request.body;
    return encoding === "utf8" ? data : "";
  }

  /** A capture for others to see. */
  shared(event: EventBytes): Capture {
    checkRedactable(event);
    return this.#share(fromInbox(event));
  }

  /** A capture for the app's own tests: exact where the person may see all, redacted otherwise. */
  fixture(event: EventBytes, rule: PayloadAccess): Capture {
    const capture = fromInbox(event);
    if (rule === "full") return capture;
    checkRedactable(event);
    return this.#redact(capture);
  }
}

/** The event's name is a word of the developer. */
function partsOfContactEvent(body: string): { name: unknown; fields: Record<string, unknown> } {
  const { name, ...fields } = JSON.parse(body) as Record<string, unknown>;
  return { name, fields };
}

function checkRedactable({ body }: EventBytes): void {
  if (body.byteLength <= MAX_REDACTED_BYTES) return;
  const message = `A payload of more than ${MAX_REDACTED_BYTES / 1024} KiB is not redacted while deliveries come in. Use the command pigeonhole captures export --from-inbox.`;
  throw new PageApiError(413, { code: "too_large", message });
}

const CIPHER = "aes-256-ctr";
const SEAL_BYTES = 16;

/**
 * Names for ids that are digests of what may not be seen: a guess of that could be compared with them. A name says
 * nothing without the secret, and is the same in all processes of a store.
 */
class SealedNames {
  readonly #prefix: string;
  readonly #sealing: Buffer;
  readonly #hiding: Buffer;

  /** Names begin with `prefix`; those of another one are no names. */
  constructor(secret: Uint8Array, prefix: string) {
    this.#prefix = prefix;
    this.#sealing = createHmac("sha256", secret).update(`seals of names ${prefix}`).digest();
    this.#hiding = createHmac("sha256", secret).update(`names ${prefix}`).digest();
  }

  nameOf(id: string): string {
    const seal = this.#sealOf(id);
    const cipher = createCipheriv(CIPHER, this.#hiding, seal);
    return this.#prefix + Buffer.concat([seal, cipher.update(id, "utf8"), cipher.final()]).toString("base64url");
  }

  /** Undefined for what {@link nameOf} has not made. */
  idOf(name: string): string | undefined {
    const bytes = Buffer.from(name.slice(this.#prefix.length), "base64url");
    if (!name.startsWith(this.#prefix) || bytes.length <= SEAL_BYTES) return undefined;
    const seal = bytes.subarray(0, SEAL_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#hiding, seal);
    const id = Buffer.concat([decipher.update(bytes.subarray(SEAL_BYTES)), decipher.final()]).toString();
    return timingSafeEqual(seal, this.#sealOf(id)) ? id : undefined;
  }

  /** Of the id alone: one id has one name. */
  #sealOf(id: string): Buffer {
    return createHmac("sha256", this.#sealing).update(id).digest().subarray(0, SEAL_BYTES);
  }
}
