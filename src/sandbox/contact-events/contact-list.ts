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

/** The contacts of the workspace, for which events can be recorded. */
export class ContactList {
  readonly #makeId: Pick<MakeId, "hex">;
  readonly #byEmail = new Map<string, ContactRow>();
  /** Contacts so far: an id that is made is never that of a removed one, whose events and waits are kept by it. */
  #added = 0;

  constructor(makeId: Pick<MakeId, "hex">) {
    this.#makeId = makeId;
  }

  /** All contacts, in the order in which they were added. */
  get all(): readonly ContactRow[] {
    return [...this.#byEmail.values()];
  }

  /**
   * Throws `invalid_argument` if a contact with the address or the id exists. `addedBy`: whose app adds it; undefined
   * for the owner.
   */
  add({ email, name = null, id: given }: ContactInput, addedBy?: string): ContactRow {
    if (typeof email !== "string" || !email.includes("@")) {
      throw new PigeonholeError("invalid_argument", "A contact of the sandbox needs email, an address.");
    }
    const address = foldAddress(email);
    if (this.#byEmail.has(address)) {
      throw new PigeonholeError("invalid_argument", "The sandbox already has a contact with this address.");
    }
    this.#added += 1;
    const id = given ?? this.#makeId.hex(`contact ${this.#added}`);
    if (this.findById(id) !== undefined) {
      throw new PigeonholeError("invalid_argument", "A contact of the sandbox has this id; give another.");
    }
    const contact: ContactRow = {
      id,
      email: address,
      name,
      addedBy,
      source: "manual",
      notes: null,
      audiences: new Set(),
      lastSeenAt: null,
      createdAt: null,
      updatedAt: null,
    };
    this.#byEmail.set(address, contact);
    return contact;
  }

  /** True unless a member asks for a contact that another person added. See docs/service.md#callers. */
  isReachable({ addedBy }: ContactRow, { member }: Pick<Caller, "member">): boolean {
    return member === undefined || addedBy === member;
  }

  /** By address, compared without case, or by id. */
  find(reference: string): ContactRow | undefined {
    return this.findByEmail(reference) ?? this.findById(reference);
  }

  /** By address, compared trimmed and without case. */
  findByEmail(email: string): ContactRow | undefined {
    return this.#byEmail.get(foldAddress(email));
  }

  /** By id. */
  findById(id: string): ContactRow | undefined {
    return this.all.find((contact) => contact.id === id);
  }

  /** True when there was such a contact. Its events stay, but cannot be read, and a later contact is a new one. */
  remove(reference: string): boolean {
    return this.#byEmail.delete(this.find(reference)?.email ?? "");
  }

  /** Forgets every contact, and how many there were. */
  clear(): void {
    this.#byEmail.clear();
    this.#added = 0;
  }
}
