import { z } from "zod";
import { MINUTE } from "../base/duration.js";
import type { Resource } from "./operation.js";
import { listOf, pageOf, pageQuery } from "./paging.js";
import { nullable, openEnum, pathSegment, tombstone } from "./shapes.js";

/** Forms of a workspace, and the length of their texts. See docs/service.md#forms. */
export const FORM_LIMITS = { perWorkspace: 100, signUps: 40, signUpWindowMs: 10 * MINUTE } as const;

const text = (min: number, max: number) =>
  z
    .string()
    .min(min, { error: "Must not be empty." })
    .max(max, { error: `Must have at most ${max} characters.` });

const formName = z
  .string()
  .trim()
  .min(1, { error: "Must not be empty." })
  .max(120, { error: "Must have at most 120 characters." });

/** Fields, copy and style. The names of a field's 15 keys are not documented, so they pass as they are. */
const formDocument = z.looseObject({
  fields: z.array(z.looseObject({})),
  copy: z.looseObject({}).optional(),
  style: z.looseObject({}).nullable().optional(),
});

const settings = {
  /** At most 20 audiences; every contact is in the default one anyway. */
  audienceIds: z.array(text(1, 100)).max(20, { error: "Must name at most 20 audiences." }).readonly().optional(),
  /** True: people join when they open the link of a confirmation email. Needs `senderAddress`. */
  doubleOptIn: z.boolean().optional(),
  /** An address that the caller may send as. */
  senderAddress: z.string().nullable().optional(),
  confirmSubject: text(1, 200).optional(),
  confirmMessage: text(0, 2000).optional(),
  confirmButton: text(1, 60).optional(),
  successAction: z.enum(["message", "redirect"], { error: "Must be message or redirect." }).optional(),
  /** http or https; needed while `successAction` is `redirect`. */
  redirectUrl: text(1, 2000)
    .regex(/^https?:\/\//i, { error: "Must be an http or https URL." })
    .nullable()
    .optional(),
  /** At most 10 addresses of the workspace that the caller can read. */
  notifyAddresses: z.array(z.string()).max(10, { error: "Must name at most 10 addresses." }).readonly().optional(),
};

const formFields = {
  description: text(0, 500).nullable().optional(),
  document: formDocument.optional(),
  settings: z.strictObject(settings).optional(),
};

const formCreateInput = z.strictObject({
  /** 1 to 120 characters, trimmed. */
  name: formName,
  ...formFields,
  /** Slug of a starter; ignored with `document`. */
  starter: z.string().optional(),
  /** True publishes it at once. */
  publish: z.boolean().optional(),
});

const formUpdateInput = z.strictObject({
  name: formName.optional(),
  ...formFields,
  /** The `updatedAt` that was read: if the form was saved since, nothing is written. */
  expectedUpdatedAt: z.string().optional(),
});

const formDesignInput = z.strictObject({ brief: text(1, 4000), name: text(1, 120).optional() });
const formRedesignInput = z.strictObject({ instructions: text(1, 4000), expectedUpdatedAt: z.string().optional() });
const formCopyInput = z.strictObject({ name: formName.optional() });

const formStats = z.looseObject({
  views: z.number().default(0),
  submissions: z.number().default(0),
  added: z.number().default(0),
  pending: z.number().default(0),
  lastSubmittedAt: nullable(z.string()),
});

const itemFields = {
  id: z.string(),
  name: z.string().default(""),
  description: nullable(z.string()),
  /** `draft`, `live`, or `paused`. */
  status: openEnum(["draft", "live", "paused"]).default("draft"),
  /** The hosted page. */
  url: nullable(z.string()),
  /** Where a plain HTML form posts. */
  subscribeUrl: nullable(z.string()),
  audienceIds: z.array(z.string()).default([]),
  doubleOptIn: z.boolean().default(false),
  hasUnpublishedChanges: z.boolean().default(false),
  stats: formStats.optional(),
  publishedAt: nullable(z.string()),
  createdAt: z.string().default(""),
  updatedAt: z.string().default(""),
};

const formItem = z.looseObject(itemFields);

const fullFields = {
  ...itemFields,
  /** The draft. */
  document: nullable(formDocument),
  /** What visitors see; null before it was published. */
  publishedDocument: nullable(formDocument),
  settings: z.looseObject({}).default({}),
  audiences: z.array(z.looseObject({ id: z.string(), name: z.string(), builtin: nullable(z.string()) })).default([]),
  senderIssue: nullable(openEnum(["missing", "not_sendable", "not_allowed"])),
  senderProblem: nullable(z.string()),
};

const form = z.looseObject(fullFields);
const designedForm = z.looseObject({
  ...fullFields,
  design: z.looseObject({ notes: z.array(z.string()).default([]) }),
});

const formStarter = z.looseObject({
  slug: z.string(),
  name: z.string().default(""),
  description: nullable(z.string()),
  document: formDocument.optional(),
});

const formSubscription = z.looseObject({
  formId: z.string(),
  /** `pending` waits for the confirmation link. */
  outcome: openEnum(["pending", "added"]),
  /** Null when the form does not redirect. */
  redirectUrl: nullable(z.string()),
});

/** A form as the API lists it. */
export type FormItem = z.output<typeof formItem>;
/** A form with its documents and settings. */
export type Form = z.output<typeof form>;
/** A form to begin with. */
export type FormStarter = z.output<typeof formStarter>;
/** The answer to a sign-up. */
export type FormSubscription = z.output<typeof formSubscription>;
/** What a new form is made of. */
export type FormCreateInput = z.input<typeof formCreateInput>;
/** What may be changed of a form. */
export type FormUpdateInput = z.input<typeof formUpdateInput>;

const params = z.strictObject({
  id: z.string().regex(/^frm_[0-9a-f]{24}$/, { error: "Must be frm_ and 24 hex characters." }),
});
const id = "frm_65b8f0a2c4d6e8f001234567";
const document = { fields: [{ key: "email", type: "email", required: true }], copy: { title: "News" }, style: null };

const exampleItem = {
  id,
  name: "Newsletter",
  description: null,
  status: "live",
  url: `https://forms.acme.example.com/${id}`,
  subscribeUrl: `https://forms.acme.example.com/${id}/subscribe`,
  audienceIds: [],
  doubleOptIn: false,
  hasUnpublishedChanges: false,
  stats: { views: 0, submissions: 1, added: 1, pending: 0, lastSubmittedAt: "2026-01-31T09:30:00Z" },
  publishedAt: "2026-01-31T09:00:00Z",
  createdAt: "2026-01-31T09:00:00Z",
  updatedAt: "2026-01-31T09:00:00Z",
};
const exampleForm = {
  ...exampleItem,
  document,
  publishedDocument: document,
  settings: {},
  audiences: [],
  senderIssue: null,
  senderProblem: null,
};
const exampleStarter = {
  object: "form_starter",
  slug: "newsletter",
  name: "Newsletter",
  description: "Name and address.",
};
const exampleDesign = { ...exampleForm, status: "draft", design: { notes: ["It asks for the address only."] } };

const writeErrors = ["insufficient_scope", "invalid_parameter", "unknown_parameter"] as const;
const contentErrors = [
  ...writeErrors,
  "invalid_form",
  "form_sender_refused",
  "audience_not_found",
  "capability_unsupported",
] as const;
const aiErrors = [
  ...writeErrors,
  "invalid_form",
  "workspace_limit_reached",
  "ai_not_configured",
  "ai_quota_exceeded",
] as const;
const readErrors = ["insufficient_scope", "form_not_found"] as const;

/** Sign-up forms, and the sign-up itself. See docs/service.md#forms. */
export const forms = {
  /** Lists the forms, newest first, without documents and settings. */
  list: {
    method: "GET",
    path: "/forms",
    scope: "forms:read",
    query: z.strictObject(pageQuery()),
    status: [200],
    result: pageOf(formItem),
    paged: true,
    retry: "safe",
    errors: ["insufficient_scope", "invalid_cursor", "invalid_parameter"],
    issueCodes: { cursor: "invalid_cursor" },
    doc: "Lists the forms, newest first, without documents and settings.",
    example: {
      query: { limit: 100 },
      result: { object: "list", data: [exampleItem], hasMore: false, nextCursor: null },
    },
  },
  /** Reads one form with its documents, settings and fresh counts. */
  get: {
    method: "GET",
    path: "/forms/{id}",
    scope: "forms:read",
    params,
    status: [200],
    result: form,
    retry: "safe",
    errors: readErrors,
    doc: "Reads one form with its documents, settings and fresh counts.",
    example: { params: { id }, result: exampleForm },
  },
  /** Creates a form from a document, a starter, or one field for the address. */
  create: {
    method: "POST",
    path: "/forms",
    scope: "forms:write",
    body: formCreateInput,
    status: [201, 200],
    result: form,
    retry: "never",
    errors: [...contentErrors, "workspace_limit_reached"],
    doc: "Creates a form from a document, a starter, or one field for the address.",
    example: { body: { name: "Newsletter", starter: "newsletter", publish: true }, result: exampleForm },
  },
  /** Changes a form; omitted fields stay unchanged. */
  update: {
    method: "PATCH",
    path: "/forms/{id}",
    scope: "forms:write",
    params,
    body: formUpdateInput,
    status: [200],
    result: form,
    retry: "never",
    errors: [...contentErrors, "form_not_found", "version_conflict"],
    doc: "Changes a form; omitted fields stay unchanged.",
    example: { params: { id }, body: { name: "News" }, result: exampleForm },
  },
  /** Publishes the draft of a form, which takes sign-ups from then on. */
  publish: {
    method: "POST",
    path: "/forms/{id}/publish",
    scope: "forms:write",
    params,
    status: [200],
    result: form,
    retry: "never",
    errors: readErrors,
    doc: "Publishes the draft of a form, which takes sign-ups from then on.",
    example: { params: { id }, result: exampleForm },
  },
  /** Pauses a live form, which takes no sign-ups then. */
  pause: {
    method: "POST",
    path: "/forms/{id}/pause",
    scope: "forms:write",
    params,
    status: [200],
    result: form,
    retry: "never",
    errors: readErrors,
    doc: "Pauses a live form, which takes no sign-ups then.",
    example: { params: { id }, result: { ...exampleForm, status: "paused" } },
  },
  /** Copies a form; the copy is a draft. */
  copy: {
    method: "POST",
    path: "/forms/{id}/copy",
    scope: "forms:write",
    params,
    body: formCopyInput,
    status: [201, 200],
    result: form,
    retry: "never",
    errors: [...writeErrors, "form_not_found", "workspace_limit_reached"],
    doc: "Copies a form; the copy is a draft.",
    example: { params: { id }, body: { name: "News 2" }, result: { ...exampleForm, status: "draft" } },
  },
  /** Deletes a form. */
  delete: {
    method: "DELETE",
    path: "/forms/{id}",
    scope: "forms:write",
    params,
    status: [200],
    result: tombstone,
    retry: "never",
    errors: readErrors,
    doc: "Deletes a form.",
    example: { params: { id }, result: { object: "form", id, deleted: true } },
  },
  /** Lets the designer draft a form, which takes up to half a minute and an AI action. */
  design: {
    method: "POST",
    path: "/forms/design",
    scope: "forms:write",
    body: formDesignInput,
    status: [201, 200],
    result: designedForm,
    timeoutMs: MINUTE,
    retry: "never",
    errors: aiErrors,
    doc: "Lets the designer draft a form, which takes up to half a minute and an AI action.",
    example: { body: { brief: "Ask for name and address." }, result: exampleDesign },
  },
  /** Lets the designer change the draft of a form; what visitors see stays until it is published. */
  redesign: {
    method: "POST",
    path: "/forms/{id}/redesign",
    scope: "forms:write",
    params,
    body: formRedesignInput,
    status: [200],
    result: designedForm,
    timeoutMs: MINUTE,
    retry: "never",
    errors: [
      ...writeErrors,
      "invalid_form",
      "ai_not_configured",
      "ai_quota_exceeded",
      "form_not_found",
      "version_conflict",
    ],
    doc: "Lets the designer change the draft of a form; what visitors see stays until it is published.",
    example: { params: { id }, body: { instructions: "Ask for the name too." }, result: exampleDesign },
  },
  /** Lists the forms to begin with, without documents. */
  starters: {
    method: "GET",
    path: "/forms/starters",
    scope: "forms:read",
    status: [200],
    result: listOf(formStarter),
    retry: "safe",
    errors: ["insufficient_scope"],
    doc: "Lists the forms to begin with, without documents.",
    example: { result: { object: "list", data: [exampleStarter] } },
  },
  /** Reads one form to begin with. */
  starter: {
    method: "GET",
    path: "/forms/starters/{slug}",
    scope: "forms:read",
    params: z.strictObject({ slug: pathSegment(100) }),
    status: [200],
    result: formStarter,
    retry: "safe",
    errors: ["insufficient_scope", "form_starter_not_found"],
    doc: "Reads one form to begin with.",
    example: { params: { slug: "newsletter" }, result: { ...exampleStarter, document } },
  },
  /** Signs someone up, as a visitor does: no credential is sent. */
  subscribe: {
    method: "POST",
    path: "/subscribe/{formId}",
    scope: null,
    credential: "none",
    params: z.strictObject({ formId: pathSegment(100) }),
    // The service names what is wrong with an answer by its field, so the answers pass as they are.
    body: z.looseObject({
      /** Who signs up. */
      email: z.unknown().optional() as z.ZodType as z.ZodType<string, string>,
      /** The page that the form was filled in on. */
      svc_source: z.string().max(500, { error: "Must have at most 500 characters." }).optional(),
    }),
    status: [200, 201],
    result: formSubscription,
    retry: "never",
    errors: ["invalid_parameter", "invalid_form_submission", "form_not_found", "form_closed", "form_rate_limited"],
    doc: "Signs someone up, as a visitor does: no credential is sent.",
    example: {
      params: { formId: id },
      body: { email: "ada@customer.example.com", name: "Ada" },
      result: { object: "form_subscription", formId: id, outcome: "added", redirectUrl: null },
    },
  },
} as const satisfies Resource;
