import { z } from "zod";
import { contactAddress } from "./contact-address.js";
import type { Resource } from "./operation.js";
import { pageOf, pageQuery, pageWith } from "./paging.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum, pathSegment, textOf, tombstoneOf } from "./shapes.js";

/** The length of lists and texts about contacts. See docs/service.md#contacts. */
export const CONTACT_LIMITS = { searchLength: 200, audiencesAtCreation: 25, audiences: 100, batchDelete: 200 } as const;

const search = textOf(0, CONTACT_LIMITS.searchLength).optional();

const audienceIds = (max: number) =>
  z
    .array(textOf(1, 100))
    .refine((ids) => new Set(ids).size <= max, { error: `Must name at most ${max} audiences.` })
    .readonly();

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

const email = "ada@customer.example.com";
const params = z.strictObject({ email: pathSegment(320) });
const rows = createRows({
  all: "/contacts",
  scopes: ["contacts:read", "contacts:write"],
  one: { path: "/contacts/{email}", params, missing: "contact_not_found", example: { email } },
  each: { closedToSome: "members" },
});
const audienceId = "aud_65b8f0a2c4d6e8f001234567";

/** Saved contacts, their audiences, and the people seen in mail. See docs/service.md#contacts. */
export const contacts = {
  /** Lists the contacts, those with the latest mail first. */
  list: rows.list(pageOf(listedContact), {
    doc: "Lists the contacts, those with the latest mail first.",
    query: z.strictObject({
      /** Only contacts that were saved (`manual`), or that mail was sent to (`auto`). */
      source: openEnum(["manual", "auto"]).optional(),
      /** Searches name and address; without an exact match, close spellings. At most 200 characters. */
      q: search,
      ...pageQuery({ max: 200, byDefault: 50 }),
    }),
    example: { query: { q: "ada" } },
  }),
  /** Reads one contact with its audiences. */
  get: rows.get(contact, { doc: "Reads one contact with its audiences." }),
  /** Saves a new contact, which joins the default audience. */
  create: rows.create(contact, {
    doc: "Saves a new contact, which joins the default audience.",
    body: z.strictObject({
      /** Sent trimmed and in lower case. */
      email: contactAddress(),
      name: z.string().nullable().optional(),
      notes: z.string().nullable().optional(),
      /** Audiences to join beside the default one, at most 25 different ones. Needs the scope `audiences:write` too. */
      audienceIds: audienceIds(CONTACT_LIMITS.audiencesAtCreation).optional(),
    }),
    errors: ["contact_exists", "audience_not_found"],
    example: { body: { email, name: "Ada Example", audienceIds: [audienceId] } },
  }),
  /** Changes the name or the notes of a contact; omitted fields stay unchanged. */
  update: rows.update(contact, {
    doc: "Changes the name or the notes of a contact; omitted fields stay unchanged.",
    body: z.strictObject({
      /** Null clears it. */
      name: z.string().nullable().optional(),
      /** Null clears it. */
      notes: z.string().nullable().optional(),
    }),
    example: { body: { notes: null } },
  }),
  /** Deletes a contact with its notes and audiences; the answer says whether there was one. */
  delete: rows.delete({
    doc: "Deletes a contact with its notes and audiences; the answer says whether there was one.",
    missing: "invalid_contact",
    result: tombstoneOf({ email: z.string(), wasSaved: z.boolean().default(false) }),
  }),
  /** Sets the audiences of a contact; it always stays in the default one. */
  setAudiences: rows.act("/contacts/{email}/audiences", contact, {
    doc: "Sets the audiences of a contact; it always stays in the default one.",
    method: "PUT",
    scope: "audiences:write",
    body: z.strictObject({
      /** All audiences that the contact is to be in, at most 100; a repeated one counts once. */
      audienceIds: audienceIds(CONTACT_LIMITS.audiences),
    }),
    retry: "repeatable",
    errors: ["audience_not_found"],
    example: { body: { audienceIds: [audienceId] } },
  }),
  /** Lists contacts, and with the scope `threads:read` also the addresses seen in mail. */
  people: rows.list(
    // `seen` is false when the addresses seen in mail were left out.
    pageWith(person, z.object({ seen: z.boolean().default(true) })),
    {
      doc: "Lists contacts, and with the scope `threads:read` also the addresses seen in mail.",
      path: "/people",
      pathIsAssumed: true,
      query: z.strictObject({
        /** Searches names, addresses and notes. At most 200 characters. */
        q: search,
        /** Only this address. */
        email: contactAddress().optional(),
        /** `recent` unless another is named. */
        sort: openEnum(["recent", "name", "threads"]).optional(),
        /** True: only blocked people. */
        blocked: z.boolean().optional(),
        ...pageQuery(),
      }),
      example: { query: { sort: "name", blocked: true } },
    },
  ),
  /** Deletes up to 200 contacts. */
  deleteMany: rows.act(
    "/contacts/batch-delete",
    z.looseObject({ deleted: z.array(z.string()).default([]), missing: z.array(z.string()).default([]) }),
    {
      doc: "Deletes up to 200 contacts.",
      pathIsAssumed: true,
      body: z.strictObject({
        addresses: z
          .array(contactAddress())
          .min(1, { error: "Must name at least one address." })
          .max(CONTACT_LIMITS.batchDelete, { error: "Must name at most 200 addresses." })
          .readonly(),
      }),
      example: { body: { addresses: [email] } },
    },
  ),
} as const satisfies Resource;
