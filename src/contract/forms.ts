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
import { listOf, pageOf } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { idParams, pathSegment, textOf } from "./shapes.js";

const one = {
  path: "/forms/{id}",
  scope: "forms:write",
  params: idParams(/^frm_[0-9a-f]{24}$/, "Must be frm_ and 24 hex characters."),
  missing: "form_not_found",
  example: { params: { id: "frm_65b8f0a2c4d6e8f001234567" } },
} as const;
const assumed = { ...one, pathIsAssumed: true } as const;

const contentErrors = ["invalid_form", "form_sender_refused", "audience_not_found", "capability_unsupported"] as const;
const aiErrors = ["invalid_form", "ai_not_configured", "ai_quota_exceeded"] as const;

/** Sign-up forms, and the sign-up itself. See docs/service.md#forms. */
export const forms = {
  /** Lists the forms, newest first, without documents and settings. */
  list: {
    ...ROW_KINDS.list,
    path: "/forms",
    scope: "forms:read",
    result: pageOf(formItem),
    doc: "Lists the forms, newest first, without documents and settings.",
  },
  /** Reads one form with its documents, settings and fresh counts. */
  get: {
    ...ROW_KINDS.read,
    ...one,
    scope: "forms:read",
    result: form,
    doc: "Reads one form with its documents, settings and fresh counts.",
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
    example: { body: { name: "Newsletter", starter: "newsletter", publish: true } },
  },
  /** Changes a form; omitted fields stay unchanged. */
  update: {
    ...ROW_KINDS.update,
    ...assumed,
    body: formUpdateInput,
    result: form,
    errors: [...contentErrors, "version_conflict"],
    doc: "Changes a form; omitted fields stay unchanged.",
    example: { ...one.example, body: { name: "News" } },
  },
  /** Publishes the draft of a form, which takes sign-ups from then on. */
  publish: {
    ...ROW_KINDS.act,
    ...assumed,
    path: "/forms/{id}/publish",
    result: form,
    doc: "Publishes the draft of a form, which takes sign-ups from then on.",
  },
  /** Pauses a live form, which takes no sign-ups then. */
  pause: {
    ...ROW_KINDS.act,
    ...assumed,
    path: "/forms/{id}/pause",
    result: form,
    doc: "Pauses a live form, which takes no sign-ups then.",
  },
  /** Copies a form; the copy is a draft. */
  copy: {
    ...ROW_KINDS.create,
    ...assumed,
    path: "/forms/{id}/copy",
    body: formCopyInput,
    result: form,
    errors: ["workspace_limit_reached"],
    doc: "Copies a form; the copy is a draft.",
    example: { ...one.example, body: { name: "News 2" } },
  },
  /** Deletes a form. */
  delete: { ...ROW_KINDS.delete, ...assumed, doc: "Deletes a form." },
  /** Lets the designer draft a form, which takes up to half a minute and an AI action. */
  design: {
    ...ROW_KINDS.create,
    path: "/forms/design",
    scope: "forms:write",
    body: formDesignInput,
    result: designedForm,
    timeoutMs: MINUTE,
    errors: [...aiErrors, "workspace_limit_reached"],
    doc: "Lets the designer draft a form, which takes up to half a minute and an AI action.",
    example: { body: { brief: "Ask for name and address." } },
  },
  /** Lets the designer change the draft of a form; what visitors see stays until it is published. */
  redesign: {
    ...ROW_KINDS.act,
    ...one,
    path: "/forms/{id}/redesign",
    body: formRedesignInput,
    result: designedForm,
    timeoutMs: MINUTE,
    errors: [...aiErrors, "version_conflict"],
    doc: "Lets the designer change the draft of a form; what visitors see stays until it is published.",
    example: { ...one.example, body: { instructions: "Ask for the name too." } },
  },
  /** Lists the forms to begin with, without documents. */
  starters: {
    ...ROW_KINDS.read,
    path: "/forms/starters",
    scope: "forms:read",
    result: listOf(formStarter),
    doc: "Lists the forms to begin with, without documents.",
  },
  /** Reads one form to begin with. */
  starter: {
    ...ROW_KINDS.read,
    path: "/forms/starters/{slug}",
    scope: "forms:read",
    params: z.strictObject({ slug: pathSegment(100) }),
    missing: "form_starter_not_found",
    result: formStarter,
    doc: "Reads one form to begin with.",
    example: { params: { slug: "newsletter" } },
  },
  /** Signs someone up, as a visitor does: no credential is sent. */
  subscribe: {
    ...ROW_KINDS.create,
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
    result: formSubscription,
    fires: ["form.submitted"],
    errors: ["invalid_form_submission", "form_closed", "form_rate_limited"],
    doc: "Signs someone up, as a visitor does: no credential is sent.",
    example: { params: { formId: one.example.params.id }, body: { email: "ada@customer.example.com", name: "Ada" } },
  },
} as const satisfies Resource;
