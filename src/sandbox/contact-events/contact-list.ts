import { PigeonholeError } from "../../base/error.js";
import type { Caller } from "../api/api-handlers.js";
import type { MakeId } from "../api/make-id.js";
import { foldAddress } from "../../contract/contact-address.js";

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

/** Contacts for which events can be recorded. */
export class ContactList {
  readonly #makeId: Pick<MakeId, "hex">;
  readonly #byId = new Map<string, SandboxContact>();
  readonly #byEmail = new Map<string, SandboxContact>();
  /** The member whose app added a contact, by its id; none for one that the owner added. */
  readonly #addedBy = new Map<string, string>();
  /** Ids of all contacts so far. A used one would give a new contact the events and waits of a removed one. */
  readonly #usedIds = new Set<string>();

  constructor(makeId: Pick<MakeId, "hex">) {
    this.#makeId = makeId;
  }

  /** All contacts, in the order in which they were added. */
  get all(): readonly SandboxContact[] {
    return [...this.#byId.values()];
  }

  /**
   * Throws `invalid_argument` if a contact with the address exists, or one with the id exists or did before it was
   * removed. `member`: whose app adds it; undefined for the owner.
   */
  add({ email, name = null, id: given }: ContactInput, member?: string): SandboxContact {
    if (typeof email !== "string" || !email.includes("@")) {
      throw new PigeonholeError("invalid_argument", "A contact of the sandbox needs email, an address.");
    }
    const address = foldAddress(email);
    if ((given !== undefined && this.#byId.has(given)) || this.#byEmail.has(address)) {
      throw new PigeonholeError("invalid_argument", "The sandbox already has a contact with this address or id.");
    }
    const id = given ?? this.#newId(address);
    if (this.#usedIds.has(id)) {
      throw new PigeonholeError("invalid_argument", "A removed contact of the sandbox had this id; give another.");
    }
    this.#usedIds.add(id);
    const contact = { id, email: address, name };
    this.#byId.set(id, contact);
    this.#byEmail.set(address, contact);
    if (member !== undefined) this.#addedBy.set(id, member);
    return contact;
  }

  /** True unless a member asks for a contact that another person added. See docs/service.md#callers. */
  isReachable({ id }: SandboxContact, { member }: Pick<Caller, "member">): boolean {
    return member === undefined || this.#addedBy.get(id) === member;
  }

  /** By address, compared without case, or by id. */
  find(reference: string): SandboxContact | undefined {
    return this.#byId.get(reference) ?? this.#byEmail.get(foldAddress(reference));
  }

  /** By address, compared trimmed and without case. */
  findByEmail(email: string): SandboxContact | undefined {
    return this.#byEmail.get(foldAddress(email));
  }

  /** By id. */
  findById(id: string): SandboxContact | undefined {
    return this.#byId.get(id);
  }

  /** True when there was such a contact. Its events stay, but cannot be read, and a later contact is a new one. */
  remove(reference: string): boolean {
    const contact = this.find(reference);
    if (contact === undefined) return false;
    this.#byEmail.delete(contact.email);
    return this.#byId.delete(contact.id);
  }

  /** Forgets every contact and the ids that were used. */
  clear(): void {
    this.#byId.clear();
    this.#byEmail.clear();
    this.#usedIds.clear();
    this.#addedBy.clear();
  }

  /** The first contact of an address has the same id in every run, and each later one another. */
  #newId(address: string): string {
    for (let count = 1; ; count += 1) {
      const id = this.#makeId.hex(count === 1 ? `contact ${address}` : `contact ${address} ${count}`);
      if (!this.#usedIds.has(id)) return id;
    }
  }
}
