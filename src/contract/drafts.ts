import { z } from "zod";
import type { Resource } from "./operation.js";
import { pageOf, pageTokenQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
import { idParams, nullable, someText, textOf } from "./shapes.js";

/** The length of a draft's texts. See docs/service.md#drafts. */
export const DRAFT_LIMITS = { subjectLength: 998, bodyLength: 1_000_000, searchedBody: 4_000 } as const;

const recipients = z.array(someText()).readonly().optional();
const bodyText = textOf(0, DRAFT_LIMITS.bodyLength).optional();

const writable = {
  /** Addresses, with a display name or without; a comma inside a name breaks the recipient. */
  to: recipients,
  cc: recipients,
  bcc: recipients,
  subject: textOf(0, DRAFT_LIMITS.subjectLength).optional(),
  html: bodyText,
  /** Used only without `html`, and read back as it. */
  text: bodyText,
  /** The sender. */
  from: z.string().optional(),
  /** The conversation that the draft replies to. */
  threadId: z.string().optional(),
};

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

const rows = createRows({
  all: "/drafts",
  scopes: ["drafts:read", "drafts:write"],
  one: {
    path: "/drafts/{id}",
    params: idParams(/^draft-[0-9A-Za-z-]{1,100}$/, "Must be the id of a draft, which begins with draft-."),
    example: { id: "draft-3f2504e0-4f89-41d3-9a0c-0305e82c3301" },
  },
});
/** Fields that the operation does not have are refused like others. */
const issueCodes = { "*": "invalid_parameter" } as const;

/** Messages that are not sent yet. See docs/service.md#drafts. */
export const drafts = {
  /** Lists the ids of the drafts, the most recently saved first. */
  list: rows.list(pageOf(draftReference), {
    doc: "Lists the ids of the drafts, the most recently saved first.",
    query: z.strictObject({
      /** Words, quoted phrases and operators such as `subject:` and `after:`. */
      query: z.string().optional(),
      ...pageTokenQuery(),
    }),
    pageParam: "pageToken",
    issueCodes: { pageToken: "invalid_cursor" },
    example: { query: { query: "subject:order", limit: 100 } },
  }),
  /** Reads one draft. */
  get: rows.get(draft, { doc: "Reads one draft." }),
  /** Creates a draft, which a person can send. */
  create: rows.create(draftReference, {
    doc: "Creates a draft, which a person can send.",
    body: z
      .strictObject({
        ...writable,
        /** A message of the conversation, whose files are forwarded. */
        forwardOf: z.string().optional(),
      })
      .refine(({ forwardOf, threadId }) => forwardOf === undefined || (threadId !== undefined && threadId !== ""), {
        error: "Needs threadId.",
        path: ["forwardOf"],
      }),
    issueCodes,
    example: {
      body: {
        to: ["Ada <ada@customer.example.com>"],
        subject: "Your order",
        html: "<p>It is on its way.</p>",
        from: "support@acme.example.com",
        threadId: "thr_65b8f0a2c4d6e8f001234567",
      },
    },
  }),
  /** Changes a draft: each field that is sent replaces what was stored. */
  update: rows.update(draftReference, {
    doc: "Changes a draft: each field that is sent replaces what was stored.",
    body: z.strictObject({
      ...writable,
      /** Null or an empty text clears it. */
      from: z.string().nullable().optional(),
    }),
    issueCodes,
    example: { body: { subject: "Your order 1042", from: null } },
  }),
  /** Deletes a draft for good. */
  delete: rows.delete({
    doc: "Deletes a draft for good.",
    result: z.looseObject({
      object: z.string().default("draft"),
      id: nullable(z.string()),
      deleted: z.boolean().default(true),
    }),
  }),
} as const satisfies Resource;
