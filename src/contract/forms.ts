import { z } from "zod";
import { MINUTE } from "../base/duration.js";
import type { Resource } from "./operation.js";
import { listOf, pageOf } from "./paging.js";
import { createRows } from "./create-rows.js";
import { idParams, nullable, openEnum, pathSegment, textOf, trimmedName } from "./shapes.js";

/** Forms of a workspace, sign-ups of a network address, and emails to a person. See docs/service.md#sign-ups. */
export const FORM_LIMITS = { perWorkspace: 100, signUps: 40, emailsPerDay: 5, windowMs: 10 * MINUTE } as const;

const formName = trimmedName(120);

/** Fields, copy and style. The names of a field's 15 keys are not documented, so they pass as they are. */
const formDocument = z.looseObject({
  fields: z.array(z.looseObject({})),
  copy: z.looseObject({}).optional(),
  style: z.looseObject({}).nullable().optional(),
});

const settings = {
  /** At most 20 audiences; every contact is in the default one anyway. */
  audienceIds: z.array(textOf(1, 100)).max(20, { error: "Must name at most 20 audiences." }).readonly().optional(),
  /** True: people join when they open the link of a confirmation email. Needs `senderAddress`. */
  doubleOptIn: z.boolean().optional(),
  /** An address that the caller may send as. */
  senderAddress: z.string().nullable().optional(),
  confirmSubject: textOf(1, 200).optional(),
  confirmMessage: textOf(0, 2000).optional(),
  confirmButton: textOf(1, 60).optional(),
  successAction: z.enum(["message", "redirect"], { error: "Must be message or redirect." }).optional(),
  /** http or https; needed while `successAction` is `redirect`. */
  redirectUrl: textOf(1, 2000)
    .refine((url) => /^https?:\/\//i.test(url) && URL.canParse(url), { error: "Must be an http or https URL." })
    .nullable()
    .optional(),
  /** At most 10 addresses of the workspace that the caller can read. */
  notifyAddresses: z.array(z.string()).max(10, { error: "Must name at most 10 addresses." }).readonly().optional(),
};

const formFields = {
  description: textOf(0, 500).nullable().optional(),
  document: formDocument.optional(),
  settings: z.strictObject(settings).optional(),
};

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
  stats: z
    .looseObject({
      views: z.number().default(0),
      submissions: z.number().default(0),
      added: z.number().default(0),
      pending: z.number().default(0),
      lastSubmittedAt: nullable(z.string()),
    })
    .optional(),
  publishedAt: nullable(z.string()),
  createdAt: z.string().default(""),
  updatedAt: z.string().default(""),
};

/** A form as it is listed. */
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

/** A form as it is read. */
const form = z.looseObject(fullFields);
/** A form that the designer made or changed. */
const designedForm = z.looseObject({
  ...fullFields,
  design: z.looseObject({ notes: z.array(z.string()).default([]) }),
});

/** A form to begin with. */
const formStarter = z.looseObject({
  slug: z.string(),
  name: z.string().default(""),
  description: nullable(z.string()),
  document: formDocument.optional(),
});

/** The answer to a sign-up. */
const formSubscription = z.looseObject({
  formId: z.string(),
  /** `pending` waits for the confirmation link. */
  outcome: openEnum(["pending", "added"]),
  /** Null when the form does not redirect. */
  redirectUrl: nullable(z.string()),
});

const id = "frm_65b8f0a2c4d6e8f001234567";
const params = idParams(/^frm_[0-9a-f]{24}$/, "Must be frm_ and 24 hex characters.");
const rows = createRows({
  all: "/forms",
  scopes: ["forms:read", "forms:write"],
  one: { path: "/forms/{id}", params, missing: "form_not_found", example: { id } },
});
const assumed = { pathIsAssumed: true } as const;

const contentErrors = ["invalid_form", "form_sender_refused", "audience_not_found", "capability_unsupported"] as const;
const aiErrors = ["invalid_form", "ai_not_configured", "ai_quota_exceeded"] as const;

/** Sign-up forms, and the sign-up itself. See docs/service.md#forms. */
export const forms = {
  /** Lists the forms, newest first, without documents and settings. */
  list: rows.list(pageOf(formItem), { doc: "Lists the forms, newest first, without documents and settings." }),
  /** Reads one form with its documents, settings and fresh counts. */
  get: rows.get(form, { doc: "Reads one form with its documents, settings and fresh counts." }),
  /** Creates a form from a document, a starter, or one field for the address. */
  create: rows.create(form, {
    doc: "Creates a form from a document, a starter, or one field for the address.",
    body: z.strictObject({
      name: formName,
      ...formFields,
      /** Slug of a starter; ignored with `document`. */
      starter: z.string().optional(),
      /** True publishes it at once. */
      publish: z.boolean().optional(),
    }),
    errors: [...contentErrors, "workspace_limit_reached"],
    example: { body: { name: "Newsletter", starter: "newsletter", publish: true } },
  }),
  /** Changes a form; omitted fields stay unchanged. */
  update: rows.update(form, {
    doc: "Changes a form; omitted fields stay unchanged.",
    ...assumed,
    body: z.strictObject({
      name: formName.optional(),
      ...formFields,
      /** The `updatedAt` that was read: if the form was saved since, nothing is written. */
      expectedUpdatedAt: z.string().optional(),
    }),
    errors: [...contentErrors, "version_conflict"],
    example: { body: { name: "News" } },
  }),
  /** Publishes the draft of a form, which takes sign-ups from then on. */
  publish: rows.act("/forms/{id}/publish", form, {
    doc: "Publishes the draft of a form, which takes sign-ups from then on.",
    ...assumed,
  }),
  /** Pauses a live form, which takes no sign-ups then. */
  pause: rows.act("/forms/{id}/pause", form, { doc: "Pauses a live form, which takes no sign-ups then.", ...assumed }),
  /** Copies a form; the copy is a draft. */
  copy: rows.create(form, {
    doc: "Copies a form; the copy is a draft.",
    ...assumed,
    path: "/forms/{id}/copy",
    body: z.strictObject({ name: formName.optional() }),
    errors: ["workspace_limit_reached"],
    example: { body: { name: "News 2" } },
  }),
  /** Deletes a form. */
  delete: rows.delete({ doc: "Deletes a form.", ...assumed }),
  /** Lets the designer draft a form, which takes up to half a minute and an AI action. */
  design: rows.create(designedForm, {
    doc: "Lets the designer draft a form, which takes up to half a minute and an AI action.",
    path: "/forms/design",
    body: z.strictObject({ brief: textOf(1, 4000), name: textOf(1, 120).optional() }),
    timeoutMs: MINUTE,
    errors: [...aiErrors, "workspace_limit_reached"],
    example: { body: { brief: "Ask for name and address." } },
  }),
  /** Lets the designer change the draft of a form; what visitors see stays until it is published. */
  redesign: rows.act("/forms/{id}/redesign", designedForm, {
    doc: "Lets the designer change the draft of a form; what visitors see stays until it is published.",
    body: z.strictObject({
      instructions: textOf(1, 4000),
      expectedUpdatedAt: z.string().optional(),
    }),
    timeoutMs: MINUTE,
    errors: [...aiErrors, "version_conflict"],
    example: { body: { instructions: "Ask for the name too." } },
  }),
  /** Lists the forms to begin with, without documents. */
  starters: rows.read("/forms/starters", listOf(formStarter), {
    doc: "Lists the forms to begin with, without documents.",
  }),
  /** Reads one form to begin with. */
  starter: rows.read("/forms/starters/{slug}", formStarter, {
    doc: "Reads one form to begin with.",
    params: z.strictObject({ slug: pathSegment(100) }),
    missing: "form_starter_not_found",
    example: { params: { slug: "newsletter" } },
  }),
  /** Signs someone up, as a visitor does: no credential is sent. */
  subscribe: rows.create(formSubscription, {
    doc: "Signs someone up, as a visitor does: no credential is sent.",
    path: "/subscribe/{formId}",
    scope: null,
    credential: "none",
    params: z.strictObject({ formId: pathSegment(100) }),
    missing: "form_not_found",
    // The service names what is wrong with an answer by its field, so the answers pass as they are.
    body: z
      .looseObject({
        /** Who signs up. */
        email: z.unknown().optional().meta({ type: "string", format: "email" }) as z.ZodType as z.ZodType<
          string,
          string
        >,
        /** The page that the form was filled in on. */
        svc_source: textOf(0, 500).optional(),
      })
      .meta({ required: ["email"] }),
    issueCodes: { "*": "invalid_parameter" },
    status: [200, 201],
    fires: ["form.submitted"],
    errors: ["invalid_form_submission", "form_closed", "form_rate_limited"],
    example: { params: { formId: id }, body: { email: "ada@customer.example.com", name: "Ada" } },
  }),
} as const satisfies Resource;
