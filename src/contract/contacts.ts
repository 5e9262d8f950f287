import { z } from "zod";
import { contactAddress } from "./contact-address.js";
import type { Resource } from "./operation.js";
import { onlyPage, pageOf, pageQuery, pageWith } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { countDifferent, nullable, openEnum, pathSegment, tombstoneOf } from "./shapes.js";

/** The length of lists and texts about contacts. See docs/service.md#contacts. */
export const CONTACT_LIMITS = { searchLength: 200, audiencesAtCreation: 25, audiences: 100, batchDelete: 200 } as const;

const search = z.string().max(CONTACT_LIMITS.searchLength, { error: "Must have at most 200 characters." }).optional();

const audienceIds = (max: number) =>
  z
    .array(z.string().min(1, { error: "Must not be empty." }).max(100, { error: "Must have at most 100 characters." }))
    .refine((ids) => countDifferent(ids) <= max, { error: `Must name at most ${max} audiences.` })
    .readonly();

const contactCreateInput = z.strictObject({
  /** Sent trimmed and in lower case. */
  email: contactAddress,
  name: z.string().nullable().optional(),
  notes: z.string().nullable().optional(),
  /** Audiences to join beside the default one, at most 25 different ones. Needs the scope `audiences:write` too. */
  audienceIds: audienceIds(CONTACT_LIMITS.audiencesAtCreation).optional(),
});

const contactUpdateInput = z.strictObject({
  /** Null clears it. */
  name: z.string().nullable().optional(),
  /** Null clears it. */
  notes: z.string().nullable().optional(),
});

const audience = z.looseObject({
  id: z.string(),
  name: z.string().default(""),
  /** `default` for the audience that every contact belongs to. */
  builtin: nullable(openEnum(["default"])),
});

const contactFields = {
  /** The contact's identity: there is no other id. */
  email: z.string(),
  name: nullable(z.string()),
  /** `manual` when someone saved it, `auto` when mail was sent to it. */
  source: openEnum(["manual", "auto"]).default("manual"),
  notes: nullable(z.string()),
  photoUrl: nullable(z.string()),
  /** Null for a contact without mail. */
  lastSeenAt: nullable(z.string()),
};

const listedContact = z.looseObject(contactFields);
const contact = z.looseObject({ ...contactFields, audiences: z.array(audience).default([]) });

const person = z.looseObject({
  email: z.string(),
  displayEmail: nullable(z.string()),
  name: nullable(z.string()),
  /** True for a contact. */
  saved: z.boolean().default(false),
  source: nullable(openEnum(["manual", "auto"])),
  notes: nullable(z.string()),
  photoUrl: nullable(z.string()),
  /** Number of conversations. */
  threads: z.number().default(0),
  lastAt: nullable(z.string()),
  createdAt: nullable(z.string()),
  updatedAt: nullable(z.string()),
  /** The rule of the blocklist that blocks it. */
  blockedBy: nullable(z.unknown()),
});

/** A contact as the API lists it, without its audiences. */
export type ListedContact = z.output<typeof listedContact>;
/** A contact as the API returns it, with its audiences. */
export type Contact = z.output<typeof contact>;
/** A contact, or an address seen in mail. */
export type Person = z.output<typeof person>;
/** What a new contact is made of. */
export type ContactCreateInput = z.input<typeof contactCreateInput>;
/** What may be changed of a contact. */
export type ContactUpdateInput = z.input<typeof contactUpdateInput>;

const params = z.strictObject({ email: pathSegment(320) });
const email = "ada@customer.example.com";

const exampleListed = {
  email,
  name: "Ada Example",
  source: "manual",
  notes: null,
  photoUrl: null,
  lastSeenAt: "2026-01-31T09:30:00Z",
};
const audienceId = "aud_65b8f0a2c4d6e8f001234567";
const exampleContact = {
  ...exampleListed,
  audiences: [
    { id: "aud_65b8f0a2c4d6e8f0089abcde", name: "Everyone", builtin: "default" },
    { id: audienceId, name: "News", builtin: null },
  ],
};
const examplePerson = {
  ...exampleListed,
  displayEmail: "Ada@Customer.example.com",
  saved: true,
  threads: 3,
  lastAt: "2026-01-31T09:30:00Z",
  createdAt: "2026-01-01T00:00:00Z",
  updatedAt: "2026-01-01T00:00:00Z",
  blockedBy: null,
};

const refusals = ["insufficient_scope", "capability_unsupported"] as const;
const writeErrors = [...refusals, "invalid_parameter", "unknown_parameter"] as const;

/** Saved contacts, their audiences, and the people seen in mail. See docs/service.md#contacts. */
export const contacts = {
  /** Lists the contacts, those with the latest mail first. */
  list: {
    ...ROW_KINDS.list,
    path: "/contacts",
    scope: "contacts:read",
    closedToSome: "members",
    query: z.strictObject({
      /** Only contacts that were saved (`manual`), or that mail was sent to (`auto`). */
      source: openEnum(["manual", "auto"]).optional(),
      /** Searches name and address; without an exact match, close spellings. At most 200 characters. */
      q: search,
      ...pageQuery({ max: 200, byDefault: 50 }),
    }),
    result: pageOf(listedContact),
    errors: [...refusals, "invalid_cursor", "invalid_parameter"],
    doc: "Lists the contacts, those with the latest mail first.",
    example: { query: { q: "ada" }, result: onlyPage(exampleListed) },
  },
  /** Reads one contact with its audiences. */
  get: {
    ...ROW_KINDS.read,
    path: "/contacts/{email}",
    scope: "contacts:read",
    closedToSome: "members",
    params,
    result: contact,
    errors: [...refusals, "contact_not_found"],
    doc: "Reads one contact with its audiences.",
    example: { params: { email }, result: exampleContact },
  },
  /** Saves a new contact, which joins the default audience. */
  create: {
    ...ROW_KINDS.create,
    path: "/contacts",
    scope: "contacts:write",
    closedToSome: "members",
    body: contactCreateInput,
    result: contact,
    errors: [...writeErrors, "contact_exists", "audience_not_found"],
    doc: "Saves a new contact, which joins the default audience.",
    example: { body: { email, name: "Ada Example", audienceIds: [audienceId] }, result: exampleContact },
  },
  /** Changes the name or the notes of a contact; omitted fields stay unchanged. */
  update: {
    ...ROW_KINDS.update,
    path: "/contacts/{email}",
    scope: "contacts:write",
    closedToSome: "members",
    params,
    body: contactUpdateInput,
    result: contact,
    errors: [...writeErrors, "contact_not_found"],
    doc: "Changes the name or the notes of a contact; omitted fields stay unchanged.",
    example: { params: { email }, body: { notes: null }, result: exampleContact },
  },
  /** Deletes a contact with its notes and audiences; the answer says whether there was one. */
  delete: {
    ...ROW_KINDS.delete,
    path: "/contacts/{email}",
    scope: "contacts:write",
    closedToSome: "members",
    params,
    result: tombstoneOf({ email: z.string(), wasSaved: z.boolean().default(false) }),
    errors: [...refusals, "invalid_contact"],
    doc: "Deletes a contact with its notes and audiences; the answer says whether there was one.",
    example: { params: { email }, result: { object: "contact", email, deleted: true, wasSaved: true } },
  },
  /** Sets the audiences of a contact; it always stays in the default one. */
  setAudiences: {
    method: "PUT",
    path: "/contacts/{email}/audiences",
    scope: "audiences:write",
    closedToSome: "members",
    params,
    body: z.strictObject({
      /** All audiences that the contact is to be in, at most 100; a repeated one counts once. */
      audienceIds: audienceIds(CONTACT_LIMITS.audiences),
    }),
    status: [200],
    result: contact,
    retry: "repeatable",
    errors: [...writeErrors, "contact_not_found", "audience_not_found"],
    doc: "Sets the audiences of a contact; it always stays in the default one.",
    example: { params: { email }, body: { audienceIds: [audienceId] }, result: exampleContact },
  },
  /** Lists contacts, and with the scope `threads:read` also the addresses seen in mail. */
  people: {
    ...ROW_KINDS.list,
    path: "/people",
    pathIsAssumed: true,
    assumption: {
      notShown: "The scope of `contacts.people`.",
      assumed: "`contacts:read`.",
      change: "Nothing in a client: give the key the scope that the error asks for.",
    },
    scope: "contacts:read",
    closedToSome: "members",
    query: z.strictObject({
      /** Searches names, addresses and notes. At most 200 characters. */
      q: search,
      /** Only this address. */
      email: contactAddress.optional(),
      /** `recent` unless another is named. */
      sort: openEnum(["recent", "name", "threads"]).optional(),
      /** True: only blocked people. */
      blocked: z.boolean().optional(),
      ...pageQuery(),
    }),
    // `seen` is false when the addresses seen in mail were left out.
    result: pageWith(person, z.object({ seen: z.boolean().default(true) })),
    errors: [...refusals, "invalid_cursor", "invalid_parameter"],
    doc: "Lists contacts, and with the scope `threads:read` also the addresses seen in mail.",
    example: {
      query: { sort: "name", blocked: true },
      result: { ...onlyPage(examplePerson), seen: true },
    },
  },
  /** Deletes up to 200 contacts. */
  deleteMany: {
    ...ROW_KINDS.act,
    path: "/contacts/batch-delete",
    pathIsAssumed: true,
    assumption: {
      notShown: "The scope, the input and the answer of `contacts.deleteMany`.",
      assumed: "`contacts:write`, `addresses`, and `deleted` and `missing`, lists of addresses.",
      change: "`src/contract/contacts.ts`. Give the key the scope that the error asks for.",
    },
    scope: "contacts:write",
    closedToSome: "members",
    body: z.strictObject({
      /** 1 to 200 addresses. */
      addresses: z
        .array(contactAddress)
        .min(1, { error: "Must name at least one address." })
        .max(CONTACT_LIMITS.batchDelete, { error: "Must name at most 200 addresses." })
        .readonly(),
    }),
    result: z.looseObject({ deleted: z.array(z.string()).default([]), missing: z.array(z.string()).default([]) }),
    errors: writeErrors,
    doc: "Deletes up to 200 contacts.",
    example: { body: { addresses: [email] }, result: { deleted: [email], missing: [] } },
  },
} as const satisfies Resource;
