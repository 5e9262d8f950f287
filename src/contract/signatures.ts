import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf, pageOf, pageQuery } from "./paging.js";
import { ROW_KINDS } from "./row-kinds.js";
import { addressOrCatchAll } from "./allowlists.js";
import { idParams, textOf, tombstoneOf, trimmedName } from "./shapes.js";

/** Signatures of an address, and the length of their texts. See docs/service.md#signatures. */
export const SIGNATURE_LIMITS = { perAddress: 50, nameLength: 80, htmlLength: 150_000, copyTargets: 500 } as const;

const signatureName = trimmedName(SIGNATURE_LIMITS.nameLength);

const html = textOf(0, SIGNATURE_LIMITS.htmlLength);

const defaults = {
  /** True makes it the default for new mail, in place of another. */
  isDefault: z.boolean().optional(),
  /** True makes it the default for replies and forwards, in place of another. */
  isReplyDefault: z.boolean().optional(),
};

const signatureCreateInput = z.strictObject({
  /** An address of the workspace, or `*@` and a domain of it. */
  address: addressOrCatchAll,
  /** 1 to 80 characters, trimmed; no other signature of the address has it in any case. */
  name: signatureName,
  /** At most 150,000 characters, before and after the service cleans it; it must keep some text or an image. */
  html,
  ...defaults,
});

const signatureUpdateInput = z
  .strictObject({ name: signatureName.optional(), html: html.optional(), ...defaults })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    error: "Must have at least one field.",
  });

const signatureCopyInput = z.strictObject({
  /** 1 to 500 addresses, or `*@` and a domain. That of the signature is skipped. */
  addresses: z
    .array(addressOrCatchAll)
    .min(1, { error: "Must name at least one address." })
    .max(SIGNATURE_LIMITS.copyTargets, { error: "Must name at most 500 addresses." })
    .readonly(),
  ...defaults,
});

const signature = z.looseObject({
  id: z.string(),
  /** One address, or `*@` and a domain. */
  address: z.string().default(""),
  name: z.string().default(""),
  html: z.string().default(""),
  isDefault: z.boolean().default(false),
  isReplyDefault: z.boolean().default(false),
  createdAt: z.string().default(""),
  updatedAt: z.string().default(""),
});

const one = {
  path: "/signatures/{id}",
  params: idParams(/^sig_[A-Za-z0-9_-]{1,100}$/, "Must be the id of a signature, which begins with sig_."),
  example: { params: { id: "sig_65b8f0a2c4d6e8f001234567" } },
} as const;

/** Signatures of the workspace's addresses. See docs/service.md#signatures. */
export const signatures = {
  /** Lists the signatures by address, the oldest first. */
  list: {
    ...ROW_KINDS.list,
    path: "/signatures",
    scope: "settings:read",
    query: z.strictObject({
      /** Only those of this address, or of `*@` and a domain. */
      address: addressOrCatchAll.optional(),
      ...pageQuery(),
    }),
    result: pageOf(signature),
    doc: "Lists the signatures by address, the oldest first.",
    example: { query: { address: "support@acme.example.com" } },
  },
  /** Reads one signature. */
  get: { ...ROW_KINDS.read, ...one, scope: "settings:read", result: signature, doc: "Reads one signature." },
  /** Creates a signature; the first of an address is its default for everything. */
  create: {
    ...ROW_KINDS.create,
    path: "/signatures",
    scope: "settings:write",
    body: signatureCreateInput,
    result: signature,
    errors: ["signature_name_taken", "signature_limit_reached", "capability_unsupported"],
    doc: "Creates a signature; the first of an address is its default for everything.",
    example: { body: { address: "support@acme.example.com", name: "Work", html: "<p>Ada, Acme</p>" } },
  },
  /** Changes a signature; omitted fields stay unchanged. */
  update: {
    ...ROW_KINDS.update,
    ...one,
    scope: "settings:write",
    body: signatureUpdateInput,
    result: signature,
    errors: ["signature_name_taken"],
    doc: "Changes a signature; omitted fields stay unchanged.",
    example: { ...one.example, body: { name: "Private", isDefault: false } },
  },
  /** Deletes a signature; an address whose default it was has none then. */
  delete: {
    ...ROW_KINDS.delete,
    ...one,
    scope: "settings:write",
    result: tombstoneOf({ id: z.string(), address: z.string().default("") }),
    doc: "Deletes a signature; an address whose default it was has none then.",
  },
  /** Copies a signature to other addresses, one after the other, over those of the same name. */
  copy: {
    ...ROW_KINDS.act,
    ...one,
    path: "/signatures/{id}/copy",
    scope: "settings:write",
    body: signatureCopyInput,
    status: [200, 201],
    result: listOf(signature),
    errors: ["signature_limit_reached", "capability_unsupported"],
    doc: "Copies a signature to other addresses, one after the other, over those of the same name.",
    example: { ...one.example, body: { addresses: ["sales@acme.example.com", "*@acme.example.com"], isDefault: true } },
  },
} as const satisfies Resource;
