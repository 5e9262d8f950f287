import { beginsWithVersion, readTags } from "./dns-tags.js";
import type { DomainTable } from "./domain-records.js";

/** What the DMARC record of a domain comes to. */
export type DmarcStage = "missing" | "invalid" | "monitor" | "quarantine" | "reject";

export interface DmarcFindings {
  domain: string;
  record: string | null;
  inheritedFrom: string | null;
  tags: Readonly<Record<string, string>>;
  stage: DmarcStage;
  issues: readonly string[];
}

const STAGES: ReadonlyMap<string, DmarcStage> = new Map<string, DmarcStage>([
  ["none", "monitor"],
  ["quarantine", "quarantine"],
  ["reject", "reject"],
]);

/** Reads the DMARC record of a domain, or else of its organisational domain. See docs/service.md#record-checks. */
export function checkDmarc(domain: string, table: DomainTable): DmarcFindings {
  const owner = table.find(domain).dmarc === undefined ? table.organisationOf(domain) : domain;
  const { dmarc: record } = table.find(owner);
  if (record === undefined) {
    const issues = ["There is no DMARC record, so inboxes decide alone about mail that fails."];
    return { domain, record: null, inheritedFrom: null, tags: {}, stage: "missing", issues };
  }
  const isInherited = owner !== domain;
  const tags = readTags(record);
  const policy = policyOf(tags, isInherited);
  const stage = policy === undefined ? undefined : STAGES.get(policy.toLowerCase());
  return {
    domain,
    record,
    inheritedFrom: isInherited ? owner : null,
    tags: Object.fromEntries(tags ?? []),
    stage: stage ?? "invalid",
    issues: tags === undefined || stage === undefined ? ["The record cannot be read."] : issuesOf(tags, stage),
  };
}

/** True when inboxes act on mail that fails. */
export function isEnforced(stage: DmarcStage): boolean {
  return stage === "quarantine" || stage === "reject";
}

function policyOf(tags: ReadonlyMap<string, string> | undefined, isInherited: boolean): string | undefined {
  if (tags === undefined || !beginsWithVersion(tags, "DMARC1")) return undefined;
  return (isInherited ? tags.get("sp") : undefined) ?? tags.get("p");
}

function issuesOf(tags: ReadonlyMap<string, string>, stage: DmarcStage): string[] {
  const percent = tags.get("pct") ?? "100";
  return [
    ...(stage === "monitor" ? ["The policy is none: mail that fails is delivered as usual."] : []),
    ...(percent === "100" ? [] : [`The policy holds for ${percent} % of the mail that fails.`]),
    ...(tags.has("rua") ? [] : ["No address gets reports (rua)."]),
  ];
}
