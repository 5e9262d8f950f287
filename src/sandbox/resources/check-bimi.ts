import { type DmarcStage, checkDmarc, isEnforced } from "./check-dmarc.js";
import { beginsWithVersion, readTags } from "./dns-tags.js";
import type { DomainTable } from "./domain-records.js";

export interface BimiFindings {
  record: string | null;
  logoUrl: string | null;
  authorityUrl: string | null;
  logoSvg: string | null;
  /** Null when there is no URL to fetch. */
  logoReachable: boolean | null;
  dmarcPolicy: string | null;
  dmarcEnforced: boolean;
  status: "present" | "partial" | "absent" | "invalid";
  issues: readonly string[];
}

const POLICIES: Readonly<Record<DmarcStage, string | null>> = {
  missing: null,
  invalid: null,
  monitor: "none",
  quarantine: "quarantine",
  reject: "reject",
};

/** Reads the BIMI record of a domain; its logo is in the table too. See docs/service.md#record-checks. */
export function checkBimi(domain: string, table: DomainTable): BimiFindings {
  const { bimi, logoSvg } = table.find(domain);
  const { stage } = checkDmarc(domain, table);
  const dmarc = { dmarcPolicy: POLICIES[stage], dmarcEnforced: isEnforced(stage) };
  const nothing = { logoUrl: null, authorityUrl: null, logoSvg: null, logoReachable: null, ...dmarc };
  if (bimi === undefined) {
    return { record: null, ...nothing, status: "absent", issues: ["There is no BIMI record."] };
  }
  const urls = readUrls(bimi);
  if (urls === undefined) {
    const issues = ["The record must begin with v=BIMI1 and have the https URL of a logo in l."];
    return { record: bimi, ...nothing, status: "invalid", issues };
  }
  const issues = [
    ...(logoSvg === undefined ? ["The logo cannot be fetched."] : []),
    ...(dmarc.dmarcEnforced ? [] : ["Inboxes draw a logo only when the DMARC policy is quarantine or reject."]),
  ];
  return {
    record: bimi,
    ...urls,
    logoSvg: logoSvg ?? null,
    logoReachable: logoSvg !== undefined,
    ...dmarc,
    status: issues.length === 0 ? "present" : "partial",
    issues,
  };
}

function readUrls(record: string): Pick<BimiFindings, "logoUrl" | "authorityUrl"> | undefined {
  const tags = readTags(record);
  if (tags === undefined || !beginsWithVersion(tags, "BIMI1")) return undefined;
  const [logoUrl, authorityUrl] = [tags.get("l") ?? "", tags.get("a") ?? ""];
  return isHttps(logoUrl) ? { logoUrl, authorityUrl: authorityUrl === "" ? null : authorityUrl } : undefined;
}

function isHttps(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === "https:";
}
