import { z } from "zod";
import type { Resource } from "./operation.js";
import { onlyPage, pageOf, pageTokenQuery } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { nullable } from "./shapes.js";

/** The length of a draft's texts. See docs/service.md#drafts. */
export const DRAFT_LIMITS = { subjectLength: 998, bodyLength: 1_000_000, searchedBody: 4_000 } as const;

const recipients = z
  .array(z.string().min(1, { error: "Must not be empty." }))
  .readonly()
  .optional();
const bodyText = z
  .string()
  .max(DRAFT_LIMITS.bodyLength, { error: "Must have at most 1,000,000 characters." })
  .optional();

const writable = {
  /** Addresses, with a display name or without; a comma inside a name breaks the recipient. */
  to: recipients,
  cc: recipients,
  bcc: recipients,
  /** At most 998 characters. */
  subject: z.string().max(DRAFT_LIMITS.subjectLength, { error: "Must have at most 998 characters." }).optional(),
  html: bodyText,
  /** Used only without `html`, and read back as it. */
  text: bodyText,
  /** The sender. */
  from: z.string().optional(),
  /** The conversation that the draft replies to. */
  threadId: z.string().optional(),
};

const draftCreateInput = z
  .strictObject({
    ...writable,
    /** A message of the conversation, whose files are forwarded. */
    forwardOf: z.string().optional(),
  })
  .refine(({ forwardOf, threadId }) => forwardOf === undefined || (threadId !== undefined && threadId !== ""), {
    error: "Needs threadId.",
    path: ["forwardOf"],
  });

const draftUpdateInput = z.strictObject({
  ...writable,
  /** Null or an empty text clears it. */
  from: z.string().nullable().optional(),
});

const draftReference = z.looseObject({ object: z.string().default("draft"), id: z.string() });

const draft = z.looseObject({
  id: z.string(),
  /** Bare addresses. */
  to: z.array(z.string()).default([]),
  cc: z.array(z.string()).default([]),
  bcc: z.array(z.string()).default([]),
  /** `(no subject)` for an empty one. */
  subject: z.string().default(""),
  html: z.string().default(""),
  /** Null for none, or when the workspace can no longer send as it. */
  from: nullable(z.string()),
  /** Null when it replies to nothing. */
  threadId: nullable(z.string()),
  /** The message that it forwards, or null. */
  forwardOf: nullable(z.string()),
  attachments: z
    .array(z.looseObject({ filename: z.string(), contentType: nullable(z.string()), size: nullable(z.number()) }))
    .default([]),
});

/** A draft as the API returns it. */
export type Draft = z.output<typeof draft>;
/** What a new draft is made of. */
export type DraftCreateInput = z.input<typeof draftCreateInput>;
/** What may be changed of a draft. */
export type DraftUpdateInput = z.input<typeof draftUpdateInput>;

const params = z.strictObject({
  id: z
    .string()
    .regex(/^draft-[0-9A-Za-z-]{1,100}$/, { error: "Must be the id of a draft, which begins with draft-." }),
});
const id = "draft-3f2504e0-4f89-41d3-9a0c-0305e82c3301";

const exampleReference = { object: "draft", id };
const exampleInput = {
  to: ["Ada <ada@customer.example.com>"],
  subject: "Your order",
  html: "<p>It is on its way.</p>",
  from: "support@acme.example.com",
  threadId: "thr_65b8f0a2c4d6e8f001234567",
};
/** Fields that the operation does not have are refused like others. */
const issueCodes = { "*": "invalid_parameter" } as const;

/** Messages that are not sent yet. See docs/service.md#drafts. */
export const drafts = {
  /** Lists the ids of the drafts, the most recently saved first. */
  list: {
    ...ROW_KINDS.read,
    path: "/drafts",
    scope: "drafts:read",
    query: z.strictObject({
      /** Words, quoted phrases and operators such as `subject:` and `after:`. */
      query: z.string().optional(),
      ...pageTokenQuery(),
    }),
    result: pageOf(draftReference),
    paged: true,
    pageParam: "pageToken",
    errors: ["insufficient_scope", "invalid_cursor", "invalid_parameter"],
    issueCodes: { pageToken: "invalid_cursor" },
    doc: "Lists the ids of the drafts, the most recently saved first.",
    example: {
      query: { query: "subject:order", limit: 100 },
      result: onlyPage(exampleReference),
    },
  },
  /** Reads one draft. */
  get: {
    ...ROW_KINDS.read,
    path: "/drafts/{id}",
    scope: "drafts:read",
    params,
    result: draft,
    errors: ["insufficient_scope", "resource_not_found"],
    doc: "Reads one draft.",
    example: {
      params: { id },
      result: {
        id,
        ...exampleInput,
        to: ["ada@customer.example.com"],
        cc: [],
        bcc: [],
        forwardOf: null,
        attachments: [{ filename: "receipt.pdf", contentType: "application/pdf", size: 48_213 }],
      },
    },
  },
  /** Creates a draft, which a person can send. */
  create: {
    ...ROW_KINDS.create,
    path: "/drafts",
    scope: "drafts:write",
    body: draftCreateInput,
    result: draftReference,
    errors: ["insufficient_scope", "invalid_parameter"],
    issueCodes,
    doc: "Creates a draft, which a person can send.",
    example: { body: exampleInput, result: exampleReference },
  },
  /** Changes a draft: each field that is sent replaces what was stored. */
  update: {
    ...ROW_KINDS.update,
    path: "/drafts/{id}",
    scope: "drafts:write",
    params,
    body: draftUpdateInput,
    result: draftReference,
    errors: ["insufficient_scope", "invalid_parameter", "resource_not_found"],
    issueCodes,
    doc: "Changes a draft: each field that is sent replaces what was stored.",
    example: { params: { id }, body: { subject: "Your order 1042", from: null }, result: exampleReference },
  },
  /** Deletes a draft for good. */
  delete: {
    ...ROW_KINDS.delete,
    path: "/drafts/{id}",
    scope: "drafts:write",
    params,
    result: z.looseObject({
      object: z.string().default("draft"),
      id: nullable(z.string()),
      deleted: z.boolean().default(true),
    }),
    errors: ["insufficient_scope", "resource_not_found"],
    doc: "Deletes a draft for good.",
    example: { params: { id }, result: { object: "draft", id, deleted: true } },
  },
} as const satisfies Resource;
