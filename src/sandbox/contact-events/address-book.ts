import type { Clock } from "../../base/clock.js";
import { PigeonholeError } from "../../base/error.js";
import { foldAddress } from "../../contract/contact-address.js";
import type { NamedAddress } from "../api/addresses.js";
import { type Caller, SandboxApiError } from "../api/api-handlers.js";
import type { MakeId } from "../api/make-id.js";
import { isoNow } from "../clock/sandbox-time.js";

/** A contact of the emulated workspace. */
export interface SandboxContact {
  /** 24 hex characters if none was given. */
  id: string;
  /** Trimmed and in lower case, whatever was given. */
  email: string;
  /** As given; null when none was. */
  name: string | null;
}

/** An initial contact. */
export interface ContactInput {
  /** The contact's address; stored trimmed and in lower case. */
  email: string;
  /** The contact's name. @default null */
  name?: string | null | undefined;
  /** 1 to 64 characters. @default 24 hex characters */
  id?: string | undefined;
}

/** The contacts, by hand. */
export interface SandboxContacts {
  /** Every contact, in the order in which they were added. */
  readonly contacts: readonly SandboxContact[];
  /** Throws `invalid_argument` when the address or the id is taken. */
  addContact(contact: ContactInput): SandboxContact;
  /** True when there was such a contact. */
  removeContact(emailOrId: string): boolean;
  /** Makes a contact wait for an event of this name. */
  addWait(wait: { contactId: string; name: string }): void;
}

/** A contact with all that the workspace knows of it. */
export interface ContactRow extends SandboxContact {
  /** The member whose app added it; undefined for the owner. */
  addedBy: string | undefined;
  /** Who added it: a person, or the service for a sender. */
  source: "manual" | "auto";
  /** Free text. */
  notes: string | null;
  /** ISO time of the last mail. */
  lastSeenAt: string | null;
  /** Null for a contact that was there before. */
  createdAt: string | null;
  /** Null for a contact that was there before, until it is changed. */
  updatedAt: string | null;
  /** Ids of audiences, without the default one. */
  audiences: Set<string>;
}

/** A list of contacts to begin with, beside the default one. */
export interface AudienceInput {
  /** Its name. */
  name: string;
  /** @default `aud_` and 24 hex digits */
  id?: string | undefined;
}

/** A list of contacts. */
interface SandboxAudience {
  /** `aud_` and 24 hex digits if none was given. */
  id: string;
  /** As given. */
  name: string;
  /** `default` for the audience that every contact belongs to; null otherwise. */
  builtin: "default" | null;
}

/** An address seen in mail. */
interface Correspondent {
  email: string;
  /** As it was written. */
  displayEmail: string;
  /** The name before it in the last mail that had one. */
  name: string | null;
  threads: Set<string>;
  lastAt: string;
}

interface AddressBookInput {
  clock: Clock;
  makeId: Pick<MakeId, "hex">;
  /** @default none */
  contacts?: readonly ContactInput[];
  /** @default none but the default one */
  audiences?: readonly AudienceInput[];
}

/** The contacts of the workspace with their audiences, and the addresses seen in mail. */
export class AddressBook {
  readonly audiences: readonly SandboxAudience[];
  readonly correspondents = new Map<string, Correspondent>();
  readonly #input: AddressBookInput;
  readonly #byEmail = new Map<string, ContactRow>();
  readonly #hidden = new Set<string>();
  /** Contacts so far: an id that is made is never that of a removed one, whose events and waits are kept by it. */
  #added = 0;

  /** Throws `invalid_option` for two audiences of one id, and like `add` for the contacts. */
  constructor(input: AddressBookInput) {
    this.#input = input;
    const { makeId, audiences = [] } = input;
    const own = audiences.map(({ name, id }, index) => ({
      id: id ?? `aud_${makeId.hex(`audience ${index + 1}`)}`,
      name,
      builtin: null,
    }));
    this.audiences = [{ id: `aud_${makeId.hex("default audience")}`, name: "Everyone", builtin: "default" }, ...own];
    if (new Set(this.audiences.map(({ id }) => id)).size < this.audiences.length) {
      throw new PigeonholeError("invalid_option", "audiences: two of them have the same id.");
    }
    this.reset();
  }

  now(): string {
    return isoNow(this.#input.clock);
  }

  /** All contacts, in the order in which they were added. */
  get all(): readonly ContactRow[] {
    return [...this.#byEmail.values()];
  }

  /** Throws `invalid_argument` if a contact with the address or the id exists. `details`: @default those of no one */
  add({ email, name = null, id: given }: ContactInput, details: Partial<ContactRow> = {}): ContactRow {
    const refuse = (message: string): never => {
      throw new PigeonholeError("invalid_argument", message);
    };
    if (typeof email !== "string" || !email.includes("@")) {
      return refuse("A contact of the sandbox needs email, an address.");
    }
    const address = foldAddress(email);
    if (this.#byEmail.has(address)) refuse("The sandbox already has a contact with this address.");
    this.#added += 1;
    const id = given ?? this.#input.makeId.hex(`contact ${this.#added}`);
    if (this.findById(id) !== undefined) refuse("A contact of the sandbox has this id; give another.");
    const contact: ContactRow = {
      id,
      email: address,
      name,
      addedBy: undefined,
      source: "manual",
      notes: null,
      audiences: new Set(),
      lastSeenAt: null,
      createdAt: null,
      updatedAt: null,
      ...details,
    };
    this.#byEmail.set(address, contact);
    return contact;
  }

  /** A contact that is saved now; one with the address must not exist. */
  save(contact: ContactInput, details: Partial<ContactRow> = {}): ContactRow {
    const at = this.now();
    return this.add(contact, { ...details, createdAt: at, updatedAt: at });
  }

  /** True unless a member asks for a contact that another person added. See docs/service.md#callers. */
  isReachable({ addedBy }: ContactRow, { member }: Pick<Caller, "member">): boolean {
    return member === undefined || addedBy === member;
  }

  /**
   * By address. Throws 404 `contact_not_found` on `email`, also for one that the caller does not reach.
   */
  get(email: string, caller: Caller): ContactRow {
    const contact = this.findByEmail(email);
    if (contact !== undefined && this.isReachable(contact, caller)) return contact;
    throw new SandboxApiError({ code: "contact_not_found", param: "email" });
  }

  /** By address, or by id. */
  find(reference: string): ContactRow | undefined {
    return this.findByEmail(reference) ?? this.findById(reference);
  }

  /** By address, compared trimmed and without case. */
  findByEmail(email: string): ContactRow | undefined {
    return this.#byEmail.get(foldAddress(email));
  }

  findById(id: string): ContactRow | undefined {
    return this.all.find((contact) => contact.id === id);
  }

  /** True when there was such a contact. Its events stay, but cannot be read, and a later contact is a new one. */
  remove(reference: string): boolean {
    return this.#byEmail.delete(this.find(reference)?.email ?? "");
  }

  /**
   * Deletes the contact and hides its address. True when there was one. Of a contact that the caller does not reach,
   * nothing changes.
   */
  delete(email: string, caller: Caller): boolean {
    const contact = this.findByEmail(email);
    if (contact !== undefined && !this.isReachable(contact, caller)) return false;
    this.#hidden.add(foldAddress(email));
    return this.remove(email);
  }

  /** True for an address that was deleted, unless a contact was made with it since, in whatever way. */
  isHidden(email: string): boolean {
    return this.#hidden.has(email) && this.findByEmail(email) === undefined;
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
    const named = { email, name: typeof name === "string" ? name : null };
    const { audiences } = this.findByEmail(email) ?? this.save(named);
    for (const id of audienceIds) audiences.add(String(id));
  }

  /** A mail to or from an address. */
  see({ address, name }: NamedAddress, { threadId, at }: { threadId: string | undefined; at: string }): void {
    const email = foldAddress(address);
    const known = this.correspondents.get(email);
    const threads = new Set([...(known?.threads ?? []), ...(threadId === undefined ? [] : [threadId])]);
    const named = name ?? known?.name ?? null;
    this.correspondents.set(email, { email, displayEmail: address, name: named, threads, lastAt: at });
    const contact = this.findByEmail(email);
    if (contact !== undefined) contact.lastSeenAt = at;
  }

  /** Back to the contacts of the options. */
  reset(): void {
    for (const part of [this.#byEmail, this.#hidden, this.correspondents]) part.clear();
    this.#added = 0;
    for (const contact of this.#input.contacts ?? []) this.add(contact);
  }
}
