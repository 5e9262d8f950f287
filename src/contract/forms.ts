import { z } from "zod";
import { MINUTE } from "../base/duration.js";
import {
  formCreateInput,
  formUpdateInput,
  formDesignInput,
  formRedesignInput,
  formCopyInput,
  formItem,
  form,
  designedForm,
  formStarter,
  formSubscription,
} from "./form.js";
import type { Resource } from "./operation.js";
import { listOf, onlyPage, pageOf, pageQuery } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { pathSegment, tombstone } from "./shapes.js";

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
    ...ROW_KINDS.list,
    path: "/forms",
    scope: "forms:read",
    query: z.strictObject(pageQuery()),
    result: pageOf(formItem),
    errors: ["insufficient_scope", "invalid_cursor", "invalid_parameter"],
    doc: "Lists the forms, newest first, without documents and settings.",
    example: {
      query: { limit: 100 },
      result: onlyPage(exampleItem),
    },
  },
  /** Reads one form with its documents, settings and fresh counts. */
  get: {
    ...ROW_KINDS.read,
    path: "/forms/{id}",
    scope: "forms:read",
    params,
    result: form,
    errors: readErrors,
    doc: "Reads one form with its documents, settings and fresh counts.",
    example: { params: { id }, result: exampleForm },
  },
  /** Creates a form from a document, a starter, or one field for the address. */
  create: {
    ...ROW_KINDS.create,
    path: "/forms",
    scope: "forms:write",
    body: formCreateInput,
    result: form,
    errors: [...contentErrors, "workspace_limit_reached"],
    doc: "Creates a form from a document, a starter, or one field for the address.",
    example: { body: { name: "Newsletter", starter: "newsletter", publish: true }, result: exampleForm },
  },
  /** Changes a form; omitted fields stay unchanged. */
  update: {
    ...ROW_KINDS.update,
    path: "/forms/{id}",
    pathIsAssumed: true,
    scope: "forms:write",
    params,
    body: formUpdateInput,
    result: form,
    errors: [...contentErrors, "form_not_found", "version_conflict"],
    doc: "Changes a form; omitted fields stay unchanged.",
    example: { params: { id }, body: { name: "News" }, result: exampleForm },
  },
  /** Publishes the draft of a form, which takes sign-ups from then on. */
  publish: {
    ...ROW_KINDS.act,
    path: "/forms/{id}/publish",
    pathIsAssumed: true,
    scope: "forms:write",
    params,
    result: form,
    errors: readErrors,
    doc: "Publishes the draft of a form, which takes sign-ups from then on.",
    example: { params: { id }, result: exampleForm },
  },
  /** Pauses a live form, which takes no sign-ups then. */
  pause: {
    ...ROW_KINDS.act,
    path: "/forms/{id}/pause",
    pathIsAssumed: true,
    scope: "forms:write",
    params,
    result: form,
    errors: readErrors,
    doc: "Pauses a live form, which takes no sign-ups then.",
    example: { params: { id }, result: { ...exampleForm, status: "paused" } },
  },
  /** Copies a form; the copy is a draft. */
  copy: {
    ...ROW_KINDS.create,
    path: "/forms/{id}/copy",
    pathIsAssumed: true,
    scope: "forms:write",
    params,
    body: formCopyInput,
    result: form,
    errors: [...writeErrors, "form_not_found", "workspace_limit_reached"],
    doc: "Copies a form; the copy is a draft.",
    example: { params: { id }, body: { name: "News 2" }, result: { ...exampleForm, status: "draft" } },
  },
  /** Deletes a form. */
  delete: {
    ...ROW_KINDS.delete,
    path: "/forms/{id}",
    pathIsAssumed: true,
    scope: "forms:write",
    params,
    result: tombstone,
    errors: readErrors,
    doc: "Deletes a form.",
    example: { params: { id }, result: { object: "form", id, deleted: true } },
  },
  /** Lets the designer draft a form, which takes up to half a minute and an AI action. */
  design: {
    ...ROW_KINDS.create,
    path: "/forms/design",
    scope: "forms:write",
    body: formDesignInput,
    result: designedForm,
    timeoutMs: MINUTE,
    errors: aiErrors,
    doc: "Lets the designer draft a form, which takes up to half a minute and an AI action.",
    example: { body: { brief: "Ask for name and address." }, result: exampleDesign },
  },
  /** Lets the designer change the draft of a form; what visitors see stays until it is published. */
  redesign: {
    ...ROW_KINDS.act,
    path: "/forms/{id}/redesign",
    scope: "forms:write",
    params,
    body: formRedesignInput,
    result: designedForm,
    timeoutMs: MINUTE,
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
    ...ROW_KINDS.read,
    path: "/forms/starters",
    scope: "forms:read",
    result: listOf(formStarter),
    errors: ["insufficient_scope"],
    doc: "Lists the forms to begin with, without documents.",
    example: { result: { object: "list", data: [exampleStarter] } },
  },
  /** Reads one form to begin with. */
  starter: {
    ...ROW_KINDS.read,
    path: "/forms/starters/{slug}",
    scope: "forms:read",
    params: z.strictObject({ slug: pathSegment(100) }),
    result: formStarter,
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
    body: z
      .looseObject({
        /** Who signs up. */
        email: z.unknown().optional().meta({ type: "string", format: "email" }) as z.ZodType as z.ZodType<
          string,
          string
        >,
        /** The page that the form was filled in on. */
        svc_source: z.string().max(500, { error: "Must have at most 500 characters." }).optional(),
      })
      .meta({ required: ["email"] }),
    status: [200, 201],
    result: formSubscription,
    retry: "never",
    fires: ["form.submitted"],
    errors: ["invalid_parameter", "invalid_form_submission", "form_not_found", "form_closed", "form_rate_limited"],
    doc: "Signs someone up, as a visitor does: no credential is sent.",
    example: {
      params: { formId: id },
      body: { email: "ada@customer.example.com", name: "Ada" },
      result: { object: "form_subscription", formId: id, outcome: "added", redirectUrl: null },
    },
  },
} as const satisfies Resource;
