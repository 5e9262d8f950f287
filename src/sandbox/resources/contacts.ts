import type { Contract } from "../../contract/contract.js";
import type { QueryInput, ResultFields } from "../../contract/operation.js";
import { contactAddress, foldAddress } from "../../contract/contact-address.js";
import { type ApiHandlers, type Caller, SandboxApiError, requireOneOf } from "../api/api-handlers.js";
import { requireScope } from "../calls/authenticate.js";
import { type Numbered, type PageBody, type Sorting, pageBody, pageRows } from "../api/page-rows.js";
import type { ContactRow } from "../contact-events/contact-list.js";
import { domainOf, ownsAddress } from "../access/allowlists.js";
import type { SandboxEvent } from "../delivery/scheduled-delivery.js";
import type { AddressBook } from "./address-book.js";
import { type NamedAddress, readNamedAddresses } from "../api/addresses.js";
import type { SandboxResource, Workspace } from "./resource.js";
import { containsText } from "./search-text.js";

/** The workspace's contacts and people. See docs/service.md#contacts. */
export function createContacts(workspace: Workspace): SandboxResource<"contacts"> {
  const { book } = workspace;
  const handlers: ApiHandlers["contacts"] = {
    list: ({ query, caller }) => pageBody(pageContacts(book, query, caller), listedBody),
    get: ({ params, caller }) => contactBody(book, book.get(params.email, caller)),
    create({ body: { email, name = null, notes = null, audienceIds }, caller }) {
      if (audienceIds !== undefined) requireScope(caller, "audiences:write");
      book.checkAudiences(audienceIds ?? []);
      if (book.contacts.findByEmail(email) !== undefined) {
        throw new SandboxApiError({ code: "contact_exists", param: "email" });
      }
      const contact = book.save(email, { name, notes, member: caller.member });
      contact.audiences = new Set(audienceIds);
      return contactBody(book, contact);
    },
    update({ params, body: { name, notes }, caller }) {
      const contact = book.get(params.email, caller);
      if (name !== undefined) contact.name = name;
      if (notes !== undefined) contact.notes = notes;
      if (name !== undefined || notes !== undefined) contact.updatedAt = book.now();
      return contactBody(book, contact);
    },
    delete({ params, caller }) {
      const email = foldAddress(params.email);
      if (!isAddress(email)) throw new SandboxApiError({ code: "invalid_contact", param: "email" });
      return { object: "contact", email, deleted: true, wasSaved: book.delete(email, caller) };
    },
    setAudiences({ params, body: { audienceIds }, caller }) {
      const contact = book.get(params.email, caller);
      book.checkAudiences(audienceIds);
      contact.audiences = new Set(audienceIds);
      return contactBody(book, contact);
    },
    people: ({ query, caller }) => pagePeople(workspace, query, caller),
    deleteMany({ body: { addresses }, caller }) {
      const emails = [...new Set(addresses)];
      const deleted = emails.filter((email) => book.delete(email, caller));
      return { deleted, missing: emails.filter((email) => !deleted.includes(email)) };
    },
  };
  return {
    handlers,
    rows: () => book.contacts.all.map((contact) => contactBody(book, contact)),
    reset: () => book.clear(),
    onEvent: (event) => noteEvent(book, event),
  };
}

/** Sees the people of a mail, and adds those who signed up. */
function noteEvent(book: AddressBook, event: SandboxEvent): void {
  const { threadId, email, outcome, audienceIds, answers } = event.data;
  for (const mailbox of readCorrespondents(event)) {
    book.see(mailbox, { threadId: typeof threadId === "string" ? threadId : undefined, at: event.createdAt });
  }
  const isSignUp = event.type === "form.confirmed" || (event.type === "form.submitted" && outcome === "added");
  if (!isSignUp || typeof email !== "string" || !isAddress(email)) return;
  const { name } = (answers ?? {}) as { name?: unknown };
  book.signUp(email, { audienceIds: Array.isArray(audienceIds) ? audienceIds : [], name });
}

/** The other side of a mail. */
function readCorrespondents(event: SandboxEvent): NamedAddress[] {
  const fields = correspondentFields(event).filter((one) => typeof one === "string");
  return readNamedAddresses(fields).filter(({ address }) => isAddress(address));
}

function correspondentFields({ type, data: { from, to, cc, bcc } }: SandboxEvent): unknown[] {
  if (type === "email.received" || type === "email.replied") return [from];
  return type === "email.sent" ? [to, cc, bcc].flat() : [];
}

function pageContacts(
  book: AddressBook,
  query: QueryInput<Contract["contacts"]["list"]>,
  caller: Caller,
): PageBody<ContactRow> {
  const { source, q = "", limit = 50, cursor } = query;
  requireOneOf("source", source, ["manual", "auto"]);
  const rows = book.contacts.all.filter(
    (contact) =>
      book.contacts.isReachable(contact, caller) &&
      containsText(q, [contact.name, contact.email]) &&
      (source === undefined || contact.source === source),
  );
  const filters = [source, q, caller.member];
  return pageRows(numbered(rows), { list: "contacts", filters, sortings: LATEST_FIRST, limit, cursor });
}

/** The latest mail first, and contacts without mail last. */
const LATEST_FIRST: Readonly<Record<string, Sorting<ContactRow>>> = {
  latest: {
    positionOf: ({ lastSeenAt, email }) => [lastSeenAt === null ? 0 : -Date.parse(lastSeenAt), email],
    order: "ascending",
  },
};

function pagePeople(
  { book, options: { blocklist }, owned }: Workspace,
  { q = "", email, blocked, ...query }: QueryInput<Contract["contacts"]["people"]>,
  caller: Caller,
): PageBody<PersonRow> & { seen: boolean } {
  const seen = caller.scopes.includes("threads:read");
  const isOwn = (address: string): boolean => ownsAddress(owned, address);
  const rows = listPeople(book, { seen, caller, blocklist, isOwn }).filter(
    (person) =>
      (email === undefined || person.email === email) &&
      (blocked !== true || person.blockedBy !== null) &&
      containsText(q, [person.name, person.email, person.notes]),
  );
  const filters = [q, email, blocked, seen, caller.member];
  return { ...pageRows(numbered(rows), { list: "people", filters, sortings: sortPeople, ...query }), seen };
}

/** An address is a place of its own in every order, so that numbers decide nothing. */
function numbered<Row>(rows: readonly Row[]): Numbered<Row>[] {
  return rows.map((row) => ({ row, sequence: 0 }));
}

function listedBody({ email, name, source, notes, lastSeenAt }: ContactRow): object {
  return { email, name, source, notes, photoUrl: null, lastSeenAt };
}

function contactBody(book: AddressBook, contact: ContactRow): object {
  return { ...listedBody(contact), audiences: book.audiencesOf(contact) };
}

function isAddress(text: string): boolean {
  return contactAddress().safeParse(text).success;
}

/** A contact, or an address seen in mail. */
type PersonRow = ResultFields<Contract["contacts"]["people"]>["items"][number];

/** The orders of the list of people, the usual one first. */
const sortPeople: Readonly<Record<string, Sorting<PersonRow>>> = {
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
function listPeople(book: AddressBook, { seen, caller, blocklist, isOwn }: PeopleInput): PersonRow[] {
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
