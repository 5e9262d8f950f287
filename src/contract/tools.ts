import { z } from "zod";
import type { Resource } from "./operation.js";
import { createRows } from "./create-rows.js";
import { nullable, openEnum } from "./shapes.js";

const issues = z.array(z.string()).default([]);
const record = nullable(z.string());

/** What the DMARC record of a domain says. */
const dmarcReport = z.looseObject({
  domain: z.string(),
  /** Null when there is none. */
  record,
  /** The organisational domain, when the record is its; null otherwise. */
  inheritedFrom: nullable(z.string()),
  /** Every tag of the record; its shape is not documented. */
  tags: nullable(z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())])),
  /** `monitor` is `p=none`. */
  stage: openEnum(["missing", "invalid", "monitor", "quarantine", "reject"]),
  issues,
});

/** What the BIMI record of a domain says, and whether inboxes would draw its logo. */
const bimiReport = z.looseObject({
  record,
  logoUrl: nullable(z.string()),
  authorityUrl: nullable(z.string()),
  logoSvg: nullable(z.string()),
  logoReachable: nullable(z.boolean()),
  dmarcPolicy: nullable(z.string()),
  /** Inboxes draw a logo only when the policy is quarantine or reject. */
  dmarcEnforced: nullable(z.boolean()),
  status: openEnum(["present", "partial", "absent", "invalid"]),
  issues,
});

/** How well mail of a domain is set up. */
const deliverabilityReport = z.looseObject({
  /** 0 to 100. */
  score: z.number(),
  /** A to F. */
  grade: z.string(),
  provider: nullable(z.string()),
  /** MX, SPF, DKIM, DMARC and BIMI. */
  checks: z.array(
    z.looseObject({
      id: z.string(),
      label: z.string().default(""),
      status: openEnum(["pass", "warn", "fail", "absent"]),
      verdict: nullable(z.string()),
      record,
      /** A list of texts, or one text; its shape is not documented. */
      notes: nullable(z.union([z.array(z.string()), z.string()])),
    }),
  ),
});

const domain = z
  .string()
  .trim()
  .min(1, { error: "Must be a domain, an address or a URL." })
  .describe("a domain; an address or a URL is read as its domain");

/** What the three checks have in common: any key may call them. See docs/service.md#record-checks. */
const rows = createRows({
  all: "/tools",
  scopes: [null, null],
  each: {
    query: z.strictObject({ domain }),
    errors: ["unreachable"],
    example: { query: { domain: "acme.example.com" } },
  },
});

/** Checks of the records of any domain. See docs/service.md#record-checks. */
export const tools = {
  /** Reads the DMARC record of a domain, or of its organisational domain. */
  dmarc: rows.read("/tools/dmarc", dmarcReport, {
    doc: "Reads the DMARC record of a domain, or of its organisational domain.",
  }),
  /** Reads the BIMI record of a domain, and fetches its logo. */
  bimi: rows.read("/tools/bimi", bimiReport, { doc: "Reads the BIMI record of a domain, and fetches its logo." }),
  /** Rates the records that decide how mail of a domain is taken: MX, SPF, DKIM, DMARC and BIMI. */
  deliverability: rows.read("/tools/deliverability", deliverabilityReport, {
    doc: "Rates the records that decide how mail of a domain is taken: MX, SPF, DKIM, DMARC and BIMI.",
  }),
} as const satisfies Resource;
