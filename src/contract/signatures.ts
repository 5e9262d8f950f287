import { z } from "zod";
import type { Resource } from "./operation.js";
import { listOf, pageOf, pageQuery } from "./paging.js";
import { createRows } from "./create-rows.js";
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

const rows = createRows({
  all: "/signatures",
  scopes: ["settings:read", "settings:write"],
  one: {
    path: "/signatures/{id}",
    params: idParams(/^sig_[A-Za-z0-9_-]{1,100}$/, "Must be the id of a signature, which begins with sig_."),
    example: { id: "sig_65b8f0a2c4d6e8f001234567" },
  },
});

/** Signatures of the workspace's addresses. See docs/service.md#signatures. */
export const signatures = {
  /** Lists the signatures by address, the oldest first. */
  list: rows.list(pageOf(signature), {
    doc: "Lists the signatures by address, the oldest first.",
    query: z.strictObject({
      /** Only those of this address, or of `*@` and a domain. */
      address: addressOrCatchAll.optional(),
      ...pageQuery(),
    }),
    example: { query: { address: "support@acme.example.com" } },
  }),
  /** Reads one signature. */
  get: rows.get(signature, { doc: "Reads one signature." }),
  /** Creates a signature; the first of an address is its default for everything. */
  create: rows.create(signature, {
    doc: "Creates a signature; the first of an address is its default for everything.",
    body: z.strictObject({
      /** An address of the workspace, or `*@` and a domain of it. */
      address: addressOrCatchAll,
      /** 1 to 80 characters, trimmed; no other signature of the address has it in any case. */
      name: signatureName,
      /** At most 150,000 characters, before and after the service cleans it; it must keep some text or an image. */
      html,
      ...defaults,
    }),
    errors: ["signature_name_taken", "signature_limit_reached", "capability_unsupported"],
    example: { body: { address: "support@acme.example.com", name: "Work", html: "<p>Ada, Acme</p>" } },
  }),
  /** Changes a signature; omitted fields stay unchanged. */
  update: rows.update(signature, {
    doc: "Changes a signature; omitted fields stay unchanged.",
    body: z
      .strictObject({ name: signatureName.optional(), html: html.optional(), ...defaults })
      .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
        error: "Must have at least one field.",
      }),
    errors: ["signature_name_taken"],
    example: { body: { name: "Private", isDefault: false } },
  }),
  /** Deletes a signature; an address whose default it was has none then. */
  delete: rows.delete({
    doc: "Deletes a signature; an address whose default it was has none then.",
    result: tombstoneOf({ id: z.string(), address: z.string().default("") }),
  }),
  /** Copies a signature to other addresses, one after the other, over those of the same name. */
  copy: rows.act("/signatures/{id}/copy", listOf(signature), {
    doc: "Copies a signature to other addresses, one after the other, over those of the same name.",
    body: z.strictObject({
      /** 1 to 500 addresses, or `*@` and a domain. That of the signature is skipped. */
      addresses: z
        .array(addressOrCatchAll)
        .min(1, { error: "Must name at least one address." })
        .max(SIGNATURE_LIMITS.copyTargets, { error: "Must name at most 500 addresses." })
        .readonly(),
      ...defaults,
    }),
    status: [200, 201],
    errors: ["signature_limit_reached", "capability_unsupported"],
    example: { body: { addresses: ["sales@acme.example.com", "*@acme.example.com"], isDefault: true } },
  }),
} as const satisfies Resource;
