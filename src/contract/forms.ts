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
import { createRows } from "./create-rows.js";
import { idParams, pathSegment, textOf } from "./shapes.js";

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
    body: formCreateInput,
    errors: [...contentErrors, "workspace_limit_reached"],
    example: { body: { name: "Newsletter", starter: "newsletter", publish: true } },
  }),
  /** Changes a form; omitted fields stay unchanged. */
  update: rows.update(form, {
    doc: "Changes a form; omitted fields stay unchanged.",
    ...assumed,
    body: formUpdateInput,
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
    body: formCopyInput,
    errors: ["workspace_limit_reached"],
    example: { body: { name: "News 2" } },
  }),
  /** Deletes a form. */
  delete: rows.delete({ doc: "Deletes a form.", ...assumed }),
  /** Lets the designer draft a form, which takes up to half a minute and an AI action. */
  design: rows.create(designedForm, {
    doc: "Lets the designer draft a form, which takes up to half a minute and an AI action.",
    path: "/forms/design",
    body: formDesignInput,
    timeoutMs: MINUTE,
    errors: [...aiErrors, "workspace_limit_reached"],
    example: { body: { brief: "Ask for name and address." } },
  }),
  /** Lets the designer change the draft of a form; what visitors see stays until it is published. */
  redesign: rows.act("/forms/{id}/redesign", designedForm, {
    doc: "Lets the designer change the draft of a form; what visitors see stays until it is published.",
    body: formRedesignInput,
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
