import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../base/clock.js";
import { type ContactEventInput, checkContactEvent } from "../../contract/contact-event.js";
import { SandboxApiError, type ApiHandlers, type Caller, SpecialAnswer, inputRefusal } from "../api/api-handlers.js";
import type { MakeId } from "../api/make-id.js";
import { Automations, type SandboxAutomation, type Started } from "./automations.js";
import type { AddressBook, ContactInput, ContactRow, SandboxContact, SandboxContacts } from "./address-book.js";
import { EVENT_RETENTION_MS, EventLog, type StoredEvent } from "./stored-events.js";

export interface ContactEventStoreOptions {
  /** The time of the callers, in which events happen. */
  clock: Clock;
  /** Makes the ids of events. */
  makeId: Pick<MakeId, "hex">;
  /** The contacts, which other resources share. */
  book: AddressBook;
  /** Automations that events can start. @default none */
  automations?: readonly SandboxAutomation[];
  /** Called for every event that is stored; not for replayed ones. */
  onEvent?: (event: StoredEvent) => void;
}

/** The answer to an accepted event: the first time, or again with its key. */
interface Taken extends Started {
  stored: StoredEvent;
  replayed: boolean;
}

interface Sent {
  caller: Caller;
  nowMs: number;
  event: ContactEventInput;
  idempotencyKey: string | undefined;
  /** In a batch. */
  position?: number;
  /** The last check; throws 429. */
  countEvents?: () => void;
}

/** The recorded events of the workspace's contacts. See docs/service.md#contact-event-api. */
export class ContactEventStore implements SandboxContacts {
  readonly #options: ContactEventStoreOptions;
  readonly #automations = new Automations();
  readonly #log = new EventLog();
  /** By API key, each of which has its own idempotency keys (assumed). See docs/service.md#idempotency-keys. */
  readonly #sends = new Map<string, { sent: ContactEventInput; taken: Taken; atMs: number }>();
  #recorded = 0;

  /** An empty store, except for the automations of the options. */
  constructor(options: ContactEventStoreOptions) {
    this.#options = options;
    this.reset();
  }

  /** Every stored event, in the order of recording. */
  get events(): readonly StoredEvent[] {
    this.#prune();
    return this.#log.all;
  }

  get contacts(): readonly SandboxContact[] {
    return this.#options.book.all.map(({ id, email, name }) => ({ id, email, name }));
  }

  readonly addContact = (contact: ContactInput): SandboxContact => this.#options.book.add(contact);
  readonly removeContact = (emailOrId: string): boolean => this.#options.book.remove(emailOrId);
  readonly addWait = (wait: { contactId: string; name: string }): void => this.#automations.addWait(wait);

  /** Resets to the automations of the options, without events. */
  reset(): void {
    this.#recorded = 0;
    for (const part of [this.#automations, this.#log, this.#sends]) part.clear();
    for (const automation of this.#options.automations ?? []) this.#automations.add(automation);
  }

  /** For the operations of the contract. */
  readonly handlers: ApiHandlers["contactEvents"] = {
    send: ({ caller, body, idempotencyKey, countEvents }) => {
      const nowMs = this.#prune();
      const taken = this.#take({ caller, nowMs, event: body, idempotencyKey, countEvents });
      return new SpecialAnswer({ status: taken.replayed ? 200 : 201, body: resultOf(taken) });
    },
    sendBatch: ({ caller, body, idempotencyKey, countEvents }) => {
      const nowMs = this.#prune();
      countEvents();
      const accepted: unknown[] = [];
      const failed: unknown[] = [];
      for (const [index, event] of body.events.entries()) {
        try {
          const checked = checkContactEvent(event, nowMs);
          if (!checked.ok) throw inputRefusal(checked.issue);
          const taken = this.#take({ caller, nowMs, event, idempotencyKey, position: index });
          accepted.push({ ...resultOf(taken), index });
        } catch (error) {
          if (!(error instanceof SandboxApiError)) throw error;
          const { code, message, param } = error;
          failed.push({ index, code, message: param === undefined ? message : `${param}: ${message}` });
        }
      }
      return { object: "contact_event_batch", accepted, failed };
    },
    names: () => {
      this.#prune();
      const data = this.#log.names().map((name) => ({ object: "contact_event_name", name }));
      return { object: "list", data };
    },
    list: ({ params, query, caller }) => {
      const nowMs = this.#prune();
      const { book } = this.#options;
      const contact = book.find(params.email);
      if (contact === undefined || !book.isReachable(contact, caller))
        throw new SandboxApiError({ code: "contact_not_found" });
      return this.#log.page({ ...query, contactId: contact.id, nowMs });
    },
  };

  /** Forgets what is too old, and returns the time of the callers, in which events happen. */
  #prune(): number {
    const nowMs = this.#options.clock.now();
    this.#log.prune(nowMs);
    for (const [slot, { atMs }] of this.#sends) {
      // A map keeps the order of insertion, so all entries that follow are newer.
      if (atMs >= nowMs - EVENT_RETENTION_MS) break;
      this.#sends.delete(slot);
    }
    return nowMs;
  }

  /** Stores an event, or finds it by its key; throws a SandboxApiError. */
  #take({ caller, nowMs, event, idempotencyKey, position = -1, countEvents = () => {} }: Sent): Taken {
    const slot = JSON.stringify([caller.keyId, idempotencyKey, position]);
    const known = idempotencyKey === undefined ? undefined : this.#sends.get(slot);
    if (known !== undefined) {
      // Equal field by field as JSON; an omitted field differs from any value. Assumed.
      if (!isDeepStrictEqual(known.sent, event)) throw new SandboxApiError({ code: "idempotency_key_reuse" });
      countEvents();
      return { ...known.taken, replayed: true };
    }
    const found = this.#findContact(event, caller);
    countEvents();
    const { email = "", contactName = null, name, properties = {}, occurredAt } = event;
    const contact = found ?? this.#options.book.add({ email, name: contactName }, { addedBy: caller.member });
    this.#recorded += 1;
    const stored: StoredEvent = {
      object: "contact_event",
      id: this.#options.makeId.hex(`contact event ${this.#recorded}`),
      contactId: contact.id,
      email: contact.email,
      name,
      properties: { ...properties },
      occurredAt: new Date(occurredAt ?? nowMs).toISOString(),
      createdAt: new Date(nowMs).toISOString(),
      mode: caller.mode,
    };
    this.#log.append(stored);
    const started = caller.mode === "test" ? { enrolled: [], resumed: 0 } : this.#automations.start(stored);
    const taken = { stored, ...started, replayed: false };
    if (idempotencyKey !== undefined) this.#sends.set(slot, { sent: event, taken, atMs: nowMs });
    this.#options.onEvent?.(stored);
    return taken;
  }

  /** The contact of an event; undefined for one that is to be added. */
  #findContact(event: ContactEventInput, caller: Caller): ContactRow | undefined {
    const { book } = this.#options;
    const { email, contactId, createContact = false } = event;
    const found = contactId === undefined ? book.findByEmail(email ?? "") : book.findById(contactId);
    // The service chooses ids, so only an address can be added.
    if (found === undefined && contactId === undefined && createContact) return undefined;
    const isOther = email !== undefined && book.findByEmail(email) !== found;
    if (found !== undefined && !isOther && book.isReachable(found, caller)) return found;
    throw new SandboxApiError({ code: "contact_not_found" });
  }
}

/** The answer to a resend repeats what the first answer said about automations. Assumed. */
function resultOf({ stored, replayed, enrolled, resumed }: Taken): object {
  return { ...stored, replayed, enrolled, resumed };
}
