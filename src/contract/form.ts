import { z } from "zod";
import { MINUTE } from "../base/duration.js";
import { nullable, openEnum, textOf, trimmedName } from "./shapes.js";

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

/** Body of creation. */
export const formCreateInput = z.strictObject({
  /** 1 to 120 characters, trimmed. */
  name: formName,
  ...formFields,
  /** Slug of a starter; ignored with `document`. */
  starter: z.string().optional(),
  /** True publishes it at once. */
  publish: z.boolean().optional(),
});

/** Body of an update: omitted fields stay unchanged. */
export const formUpdateInput = z.strictObject({
  name: formName.optional(),
  ...formFields,
  /** The `updatedAt` that was read: if the form was saved since, nothing is written. */
  expectedUpdatedAt: z.string().optional(),
});

/** What the designer is told about a new form. */
export const formDesignInput = z.strictObject({ brief: textOf(1, 4000), name: textOf(1, 120).optional() });
/** What the designer is told about a change. */
export const formRedesignInput = z.strictObject({
  instructions: textOf(1, 4000),
  expectedUpdatedAt: z.string().optional(),
});
/** Body of a copy. */
export const formCopyInput = z.strictObject({ name: formName.optional() });

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

/** A form as it is listed. */
export const formItem = z.looseObject(itemFields);

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
export const form = z.looseObject(fullFields);
/** A form that the designer made or changed. */
export const designedForm = z.looseObject({
  ...fullFields,
  design: z.looseObject({ notes: z.array(z.string()).default([]) }),
});

/** A form to begin with. */
export const formStarter = z.looseObject({
  slug: z.string(),
  name: z.string().default(""),
  description: nullable(z.string()),
  document: formDocument.optional(),
});

/** The answer to a sign-up. */
export const formSubscription = z.looseObject({
  formId: z.string(),
  /** `pending` waits for the confirmation link. */
  outcome: openEnum(["pending", "added"]),
  /** Null when the form does not redirect. */
  redirectUrl: nullable(z.string()),
});
