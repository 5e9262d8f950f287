import type { Contract } from "../../contract/contract.js";
import type { ResultFields } from "../../contract/operation.js";
import { foldAddress } from "../../contract/contact-address.js";
import type { Caller } from "../api/api-handlers.js";
import type { Sorting } from "../api/page-rows.js";
import { domainOf } from "../access/allowlists.js";
import type { AddressBook } from "./address-book.js";

/** A contact, or an address seen in mail. */
export type PersonRow = ResultFields<Contract["contacts"]["people"]>["items"][number];

/** The orders of the list of people, the usual one first. */
export const sortPeople: Readonly<Record<string, Sorting<PersonRow>>> = {
  recent: { positionOf: ({ lastAt, email }) => [lastAt === null ? 0 : -Date.parse(lastAt), email], order: "ascending" },
  name: { positionOf: ({ name, email }) => [(name ?? email).toLowerCase(), email], order: "ascending" },
  threads: { positionOf: ({ threads, email }) => [-threads, email], order: "ascending" },
};

interface PeopleInput {
  /** True: with the addresses seen in mail. */
  seen: boolean;
  /** Whose contacts are listed. */
  caller: Caller;
  /** Addresses and domains. */
  blocklist: readonly string[];
  /** True for an address of the workspace, which is never listed. */
  isOwn: (email: string) => boolean;
}

/** Every address that the workspace knows, deleted addresses and its own left out. */
export function listPeople(book: AddressBook, { seen, caller, blocklist, isOwn }: PeopleInput): PersonRow[] {
  const blockedBy = (email: string): string | null =>
    blocklist.find((entry) => [email, domainOf(email)].includes(foldAddress(entry))) ?? null;
  const reached = book.contacts.all.filter((contact) => book.contacts.isReachable(contact, caller));
  const saved = reached.map((contact): PersonRow => {
    const { email, name, source, notes, createdAt, updatedAt } = contact;
    const mail = book.correspondents.get(email);
    return {
      email,
      displayEmail: mail?.displayEmail ?? email,
      name,
      saved: true,
      source,
      notes,
      photoUrl: null,
      threads: mail?.threads.size ?? 0,
      // A contact that was saved after the mail has none of its own.
      lastAt: mail?.lastAt ?? null,
      createdAt,
      updatedAt,
      blockedBy: blockedBy(email),
    };
  });
  const none = { saved: false, source: null, notes: null, photoUrl: null, createdAt: null, updatedAt: null };
  const unsaved = [...book.correspondents.values()]
    .filter(({ email }) => seen && book.find(email, caller) === undefined)
    .map((mail): PersonRow => ({ ...none, ...mail, threads: mail.threads.size, blockedBy: blockedBy(mail.email) }));
  return [...saved, ...unsaved].filter(({ email }) => !book.isHidden(email) && !isOwn(email));
}
