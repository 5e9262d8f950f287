import type { Clock } from "../../base/clock.js";
import { type ContactEventInput, checkContactEvent } from "../../contract/contact-event.js";
import { SandboxApiError, type ApiHandlers, type Caller, inputRefusal } from "../api/api-handlers.js";
import type { MakeId } from "../api/make-id.js";
import { Automations, type SandboxAutomation, type Started } from "./automations.js";
import { type ContactInput, ContactList, type SandboxContact } from "./contact-list.js";
import { EventLog, type StoredEvent } from "./event-log.js";
import { RememberedSends, type SendSlot } from "./remembered-sends.js";

export interface ContactEventStoreOptions {
  clock: Clock;
  /** Makes the ids of contacts and events. */
  makeId: Pick<MakeId, "hex">;
  /** Initial contacts. @default none */
  contacts?: readonly ContactInput[];
  /** Automations that events can start. @default none */
  automations?: readonly SandboxAutomation[];
  /**
   * What an event for an unknown address does without `createContact`: the service answers `contact_not_found`.
   */
  unknownContacts: "refuse" | "create";
  /** Called for every event that is stored; not for replayed ones. */
  onEvent?: (event: StoredEvent) => void;
}

/** The contacts of the emulated workspace and their recorded events. See docs/service.md#contact-event-api. */
export interface ContactEventStore {
  /** For the operations of the contract. */
  readonly handlers: ApiHandlers["contactEvents"];
  /** Every stored event, in the order of recording. */
  readonly events: readonly StoredEvent[];
  /** The contacts themselves, which other resources share. */
  readonly contactList: ContactList;
  /** Every contact, in the order in which they were added. */
  readonly contacts: readonly SandboxContact[];
  /** Throws `invalid_argument` when the address or the id is taken. */
  addContact(contact: ContactInput): SandboxContact;
  /** True when there was such a contact. */
  removeContact(emailOrId: string): boolean;
  /** Adds an automation that contact events can start; see docs/service.md#automations. */
  addAutomation(automation: SandboxAutomation): void;
  /** Makes a contact wait for an event of this name. */
  addWait(wait: { contactId: string; name: string }): void;
  /** Resets to the contacts and automations of the options. */
  reset(): void;
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
  /** Undefined without an idempotency key. */
  slot: SendSlot | undefined;
  /** The last check; throws 429. */
  countEvents?: () => void;
}

/** An empty store, except for the contacts and automations of the options. */
export function createContactEventStore(options: ContactEventStoreOptions): ContactEventStore {
  const { clock, makeId, unknownContacts, onEvent } = options;
  let recorded = 0;
  const contacts = new ContactList(makeId);
  const automations = new Automations();
  const log = new EventLog();
  const sends = new RememberedSends();

  function reset(): void {
    recorded = 0;
    for (const part of [contacts, automations, log, sends]) part.clear();
    for (const contact of options.contacts ?? []) contacts.add(contact);
    for (const automation of options.automations ?? []) automations.add(automation);
  }

  /** Forgets what is too old, and returns the time of the callers, in which events happen. */
  function pruned(): number {
    const nowMs = clock.now();
    log.prune(nowMs);
    sends.prune(nowMs);
    return nowMs;
  }

  /** Stores an event, or finds it by its key; throws a SandboxApiError. */
  function take({ caller, nowMs, event, slot, countEvents = () => {} }: Sent): Taken {
    const known = slot === undefined ? undefined : sends.recall(slot, event);
    if (known?.kind === "different") throw keyReuse();
    if (known?.kind === "same") {
      countEvents();
      return { ...known.send, replayed: true };
    }
    const found = findContact(event, caller);
    countEvents();
    const contact = found ?? contacts.add({ email: event.email ?? "", name: event.contactName ?? null }, caller.member);
    const { name, properties = {}, occurredAt } = event;
    recorded += 1;
    const stored: StoredEvent = {
      object: "contact_event",
      id: makeId.hex(`contact event ${recorded}`),
      contactId: contact.id,
      email: contact.email,
      name,
      properties: { ...properties },
      occurredAt: new Date(occurredAt ?? nowMs).toISOString(),
      createdAt: new Date(nowMs).toISOString(),
      mode: caller.mode,
    };
    log.append(stored);
    const started = caller.mode === "test" ? { enrolled: [], resumed: 0 } : automations.start(stored);
    if (slot !== undefined) sends.remember(slot, { sent: event, stored, ...started, atMs: nowMs });
    onEvent?.(stored);
    return { stored, ...started, replayed: false };
  }

  /** The contact of an event; undefined for one that is to be added. */
  function findContact(event: ContactEventInput, caller: Caller): SandboxContact | undefined {
    const { email, contactId, createContact = unknownContacts === "create" } = event;
    const found = contactId === undefined ? contacts.findByEmail(email ?? "") : contacts.findById(contactId);
    const isBoth = contactId !== undefined && email !== undefined;
    if (found !== undefined && !contacts.isReachable(found, caller)) throw contactNotFound();
    if (found !== undefined && (!isBoth || contacts.findByEmail(email) === found)) return found;
    // The service chooses ids, so only an address can be added.
    if (contactId !== undefined || email === undefined || !createContact) throw contactNotFound();
    return undefined;
  }

  const handlers: ApiHandlers["contactEvents"] = {
    send({ caller, body, idempotencyKey, countEvents }) {
      const nowMs = pruned();
      const slot = slotOf({ caller, idempotencyKey, position: undefined });
      const taken = take({ caller, nowMs, event: body, slot, countEvents });
      return { status: taken.replayed ? 200 : 201, body: resultOf(taken) };
    },
    sendBatch({ caller, body, idempotencyKey, countEvents }) {
      const nowMs = pruned();
      countEvents();
      const accepted: unknown[] = [];
      const failed: unknown[] = [];
      for (const [index, event] of body.events.entries()) {
        try {
          const checked = checkContactEvent(event, nowMs);
          if (!checked.ok) throw inputRefusal(checked.issue);
          const slot = slotOf({ caller, idempotencyKey, position: index });
          accepted.push({ ...resultOf(take({ caller, nowMs, event, slot })), index });
        } catch (error) {
          if (!(error instanceof SandboxApiError)) throw error;
          const { code, message, param } = error;
          failed.push({ index, code, message: param === undefined ? message : `${param}: ${message}` });
        }
      }
      return { body: { object: "contact_event_batch", accepted, failed } };
    },
    names() {
      pruned();
      const data = log.names().map((name) => ({ object: "contact_event_name", name }));
      return { body: { object: "list", data } };
    },
    list({ params, query, caller }) {
      const nowMs = pruned();
      const contact = contacts.find(params["email"] ?? "");
      if (contact === undefined || !contacts.isReachable(contact, caller)) throw contactNotFound();
      return { body: log.page({ ...query, contactId: contact.id, nowMs }) };
    },
  };

  reset();
  return {
    handlers,
    contactList: contacts,
    get events() {
      pruned();
      return log.all;
    },
    get contacts() {
      return contacts.all;
    },
    addContact: (contact) => contacts.add(contact),
    removeContact: (emailOrId) => contacts.remove(emailOrId),
    addAutomation: (automation) => automations.add(automation),
    addWait: (wait) => automations.addWait(wait),
    reset,
  };
}

/** The answer to a resend repeats what the first answer said about automations. Assumed. */
function resultOf({ stored, replayed, enrolled, resumed }: Taken): object {
  return { ...stored, replayed, enrolled, resumed };
}

function slotOf(from: {
  caller: Caller;
  idempotencyKey: string | undefined;
  position: number | undefined;
}): SendSlot | undefined {
  const { caller, idempotencyKey, position } = from;
  return idempotencyKey === undefined ? undefined : { keyId: caller.keyId, idempotencyKey, position };
}

function keyReuse(): SandboxApiError {
  const message = "The idempotency key was used for another event.";
  return new SandboxApiError({ code: "idempotency_key_reuse", message });
}

function contactNotFound(): SandboxApiError {
  return new SandboxApiError({ code: "contact_not_found", message: "No contact has this address or id." });
}
