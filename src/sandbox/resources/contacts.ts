import type { Contract } from "../../contract/contract.js";
import type { QueryInput, ResultFields } from "../../contract/operation.js";
import { contactAddress, foldAddress } from "../../contract/contact-address.js";
import { type ApiHandlers, type Caller, SandboxApiError, requireOneOf } from "../api/api-handlers.js";
import { requireScope } from "../calls/authenticate.js";
import { type Numbered, type PageBody, type Sorting, pageBody, pageRows } from "../api/page-rows.js";
import type { AddressBook, ContactRow } from "../contact-events/address-book.js";
import { domainOf, ownsAddress } from "../access/allowlists.js";
import type { SandboxEvent } from "../delivery/scheduled-delivery.js";
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
      if (book.findByEmail(email) !== undefined) {
        throw new SandboxApiError({ code: "contact_exists", param: "email" });
      }
      const contact = book.save({ email, name }, { notes, addedBy: caller.member });
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
    rows: () => book.all.map((contact) => contactBody(book, contact)),
    reset: () => book.reset(),
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
  const rows = book.all.filter(
    (contact) =>
      book.isReachable(contact, caller) &&
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
  workspace: Workspace,
  { q = "", email, blocked, ...query }: QueryInput<Contract["contacts"]["people"]>,
  caller: Caller,
): PageBody<PersonRow> & { seen: boolean } {
  const seen = caller.scopes.includes("threads:read");
  const rows = listPeople(workspace, { seen, caller }).filter(
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

/**
 * Every address that the workspace knows and the caller reaches, deleted addresses and its own left out. `seen`: with
 * the addresses seen in mail.
 */
function listPeople(
  { book, options, owned }: Workspace,
  { seen, caller }: { seen: boolean; caller: Caller },
): PersonRow[] {
  const blockedBy = (email: string): string | null =>
    options.blocklist.find((entry) => [email, domainOf(email)].includes(foldAddress(entry))) ?? null;
  const reached = book.all.filter((contact) => book.isReachable(contact, caller));
  const contacts = new Map(reached.map((contact) => [contact.email, contact]));
  const known = new Set([...contacts.keys(), ...(seen ? book.correspondents.keys() : [])]);
  const shown = [...known].filter((email) => !book.isHidden(email) && !ownsAddress(owned, email));
  return shown.map((email) => {
    const [contact, mail] = [contacts.get(email), book.correspondents.get(email)];
    const { source = null, notes = null, createdAt = null, updatedAt = null } = contact ?? {};
    return {
      email,
      displayEmail: mail?.displayEmail ?? email,
      name: (contact ?? mail)?.name ?? null,
      saved: contact !== undefined,
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
}
