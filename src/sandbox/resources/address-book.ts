import type { Clock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import type { ContactList, ContactRow } from "../contact-events/contact-list.js";
import type { NamedAddress } from "../api/addresses.js";
import type { MakeId } from "../api/make-id.js";
import { isoNow } from "../clock/sandbox-time.js";
import { foldAddress } from "../../contract/contact-address.js";

/** A list of contacts to begin with, beside the default one. */
export interface AudienceInput {
  /** Its name. */
  name: string;
  /** @default `aud_` and 24 hex digits */
  id?: string | undefined;
}

/** A list of contacts. */
export interface SandboxAudience {
  /** `aud_` and 24 hex digits if none was given. */
  id: string;
  /** As given. */
  name: string;
  /** `default` for the audience that every contact belongs to; null otherwise. */
  builtin: "default" | null;
}

/** An address seen in mail. */
export interface Correspondent {
  email: string;
  /** As it was written. */
  displayEmail: string;
  /** The name before it in the last mail that had one. */
  name: string | null;
  threads: Set<string>;
  lastAt: string;
}

interface AddressBookInput {
  /** The contacts, which contact events share. */
  contacts: ContactList;
  clock: Clock;
  makeId: MakeId;
  audiences: readonly AudienceInput[];
}

/** The contacts of the workspace with their details and audiences, and the addresses seen in mail. */
export class AddressBook {
  readonly contacts: ContactList;
  readonly audiences: readonly SandboxAudience[];
  readonly correspondents = new Map<string, Correspondent>();
  readonly #clock: Clock;
  readonly #hidden = new Set<string>();

  constructor({ contacts, clock, makeId, audiences }: AddressBookInput) {
    this.contacts = contacts;
    this.#clock = clock;
    const own = audiences.map(({ name, id }, index) => ({
      id: id ?? `aud_${makeId.hex(`audience ${index + 1}`)}`,
      name,
      builtin: null,
    }));
    this.audiences = [{ id: `aud_${makeId.hex("default audience")}`, name: "Everyone", builtin: "default" }, ...own];
    if (new Set(this.audiences.map(({ id }) => id)).size === this.audiences.length) return;
    throw new PigeonholeError("invalid_option", "audiences: two of them have the same id.");
  }

  now(): string {
    return isoNow(this.#clock);
  }

  /**
   * By address, compared trimmed and without case. Throws 404 `contact_not_found` on `email`, also for one that the
   * caller does not reach.
   */
  get(email: string, caller: Caller): ContactRow {
    const contact = this.find(email, caller);
    if (contact !== undefined) return contact;
    throw new SandboxApiError({ code: "contact_not_found", param: "email" });
  }

  /** Undefined when there is none that the caller reaches. */
  find(email: string, caller: Caller): ContactRow | undefined {
    const contact = this.contacts.findByEmail(email);
    return contact !== undefined && this.contacts.isReachable(contact, caller) ? contact : undefined;
  }

  /** Saves a new contact; one with the address must not exist. `member`: whose app does it; none for the owner. */
  save(
    email: string,
    { name, notes = null, member }: { name: string | null; notes?: string | null; member?: string | undefined },
  ): ContactRow {
    const at = this.now();
    return Object.assign(this.contacts.add({ email, name }, member), { notes, createdAt: at, updatedAt: at });
  }

  /** The audiences of a contact, the default one first, without unknown ones. */
  audiencesOf({ audiences }: ContactRow): SandboxAudience[] {
    return this.audiences.filter(({ id, builtin }) => builtin !== null || audiences.has(id));
  }

  /** Throws 404 `audience_not_found` on `param` when one of the ids is no audience. */
  checkAudiences(ids: readonly string[], param = "audienceIds"): void {
    if (ids.every((id) => this.audiences.some((audience) => audience.id === id))) return;
    throw new SandboxApiError({ code: "audience_not_found", param });
  }

  /** Adds someone who signed up to audiences, and saves the contact if there is none. */
  signUp(email: string, { audienceIds, name }: { audienceIds: readonly unknown[]; name: unknown }): void {
    const named = { name: typeof name === "string" ? name : null };
    const { audiences } = this.contacts.findByEmail(email) ?? this.save(email, named);
    for (const id of audienceIds) audiences.add(String(id));
  }

  /**
   * Deletes the contact and hides its address. True when there was one. Of a contact that the caller does not reach,
   * nothing changes.
   */
  delete(email: string, caller: Caller): boolean {
    if (this.contacts.findByEmail(email) !== undefined && this.find(email, caller) === undefined) return false;
    this.#hidden.add(foldAddress(email));
    return this.contacts.remove(email);
  }

  /** True for an address that was deleted, unless a contact was made with it since, in whatever way. */
  isHidden(email: string): boolean {
    return this.#hidden.has(email) && this.contacts.findByEmail(email) === undefined;
  }

  /** A mail to or from an address. */
  see({ address, name }: NamedAddress, { threadId, at }: { threadId: string | undefined; at: string }): void {
    const email = foldAddress(address);
    const known = this.correspondents.get(email);
    const threads = new Set([...(known?.threads ?? []), ...(threadId === undefined ? [] : [threadId])]);
    const named = name ?? known?.name ?? null;
    this.correspondents.set(email, { email, displayEmail: address, name: named, threads, lastAt: at });
    const contact = this.contacts.findByEmail(email);
    if (contact !== undefined) contact.lastSeenAt = at;
  }

  /** Forgets everything but the contacts, which contact events reset. */
  clear(): void {
    this.#hidden.clear();
    this.correspondents.clear();
  }
}
