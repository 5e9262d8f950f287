import { type BimiFindings, checkBimi } from "./check-bimi.js";
import { type DmarcFindings, type DmarcStage, checkDmarc } from "./check-dmarc.js";
import { beginsWithVersion, readTags } from "./dns-tags.js";
import type { DomainTable } from "./domain-records.js";

type RecordVerdict = "pass" | "warn" | "fail" | "absent";

interface Finding {
  status: RecordVerdict;
  verdict: string;
  record: string | null;
  notes: readonly string[];
}

export interface DeliverabilityFindings {
  score: number;
  grade: string;
  provider: string | null;
  checks: readonly (Finding & { id: string; label: string })[];
}

/** How much of the score each check is worth; a warning is worth half. */
const WEIGHTS = { mx: 20, spf: 25, dkim: 25, dmarc: 25, bimi: 5 } as const;

/** The lowest score of each grade. */
const GRADES = [
  [90, "A"],
  [80, "B"],
  [70, "C"],
  [60, "D"],
  [50, "E"],
] as const;

/** Providers by the end of their MX hosts. */
const PROVIDERS: readonly (readonly [end: string, name: string])[] = [
  ["google.com", "google"],
  ["googlemail.com", "google"],
  ["outlook.com", "microsoft"],
];

/** Rates the records of a domain. The score and the grades are made up. See docs/service.md#record-checks. */
export function checkDeliverability(domain: string, table: DomainTable): DeliverabilityFindings {
  const { mx, spf, dkim } = table.find(domain);
  const findings: Record<keyof typeof WEIGHTS, Finding> = {
    mx: judgeMx(mx),
    spf: judgeSpf(spf),
    dkim: judgeDkim(dkim),
    dmarc: judgeDmarc(checkDmarc(domain, table)),
    bimi: judgeBimi(checkBimi(domain, table)),
  };
  const ids = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];
  const score = Math.round(ids.reduce((sum, id) => sum + WEIGHTS[id] * worthOf(findings[id].status), 0));
  return {
    score,
    grade: GRADES.find(([lowest]) => score >= lowest)?.[1] ?? "F",
    provider: providerOf(mx),
    checks: ids.map((id) => ({ id, label: id.toUpperCase(), ...findings[id] })),
  };
}

function worthOf(status: RecordVerdict): number {
  return status === "pass" ? 1 : status === "warn" ? 0.5 : 0;
}

function providerOf([first]: readonly string[]): string | null {
  const host = first?.toLowerCase().replace(/\.$/, "") ?? "";
  return PROVIDERS.find(([end]) => host === end || host.endsWith(`.${end}`))?.[1] ?? null;
}

function judgeMx(hosts: readonly string[]): Finding {
  const record = hosts.length === 0 ? null : hosts.join(", ");
  return record === null
    ? { status: "absent", verdict: "No host takes mail for the domain.", record, notes: [] }
    : { status: "pass", verdict: "Mail to the domain arrives.", record, notes: [] };
}

function judgeSpf(record: string | undefined): Finding {
  if (record === undefined) {
    return { status: "absent", verdict: "There is no SPF record.", record: null, notes: [] };
  }
  if (!/^v=spf1(?:\s|$)/i.test(record)) {
    return { status: "fail", verdict: "The record must begin with v=spf1.", record, notes: [] };
  }
  const [, sign] = /\s([-~?+]?)all\s*$/i.exec(record) ?? [];
  if (sign === "-" || sign === "~") return { status: "pass", verdict: "Other hosts are refused.", record, notes: [] };
  if (sign === "" || sign === "+") return { status: "fail", verdict: "Every host may send.", record, notes: [] };
  return { status: "warn", verdict: "Other hosts are not refused.", record, notes: ["End the record with -all."] };
}

function judgeDkim(record: string | undefined): Finding {
  if (record === undefined) {
    return { status: "absent", verdict: "There is no DKIM record.", record: null, notes: [] };
  }
  const tags = readTags(record);
  // The version may be left out, unlike that of DMARC.
  if (tags === undefined || (tags.has("v") && !beginsWithVersion(tags, "DKIM1")) || !tags.has("p")) {
    return { status: "fail", verdict: "The record cannot be read.", record, notes: [] };
  }
  return tags.get("p") === ""
    ? { status: "fail", verdict: "The key is revoked.", record, notes: [] }
    : { status: "pass", verdict: "Mail can be signed.", record, notes: [] };
}

const DMARC: Readonly<Record<DmarcStage, Pick<Finding, "status" | "verdict">>> = {
  missing: { status: "absent", verdict: "There is no DMARC record." },
  invalid: { status: "fail", verdict: "The record cannot be read." },
  monitor: { status: "warn", verdict: "Mail that fails is delivered." },
  quarantine: { status: "pass", verdict: "Mail that fails is quarantined." },
  reject: { status: "pass", verdict: "Mail that fails is rejected." },
};

function judgeDmarc({ stage, record, issues }: DmarcFindings): Finding {
  return { ...DMARC[stage], record, notes: record === null ? [] : issues };
}

const BIMI: Readonly<Record<BimiFindings["status"], Pick<Finding, "status" | "verdict">>> = {
  present: { status: "pass", verdict: "Inboxes can draw the logo." },
  partial: { status: "warn", verdict: "Inboxes do not draw the logo." },
  absent: { status: "absent", verdict: "There is no BIMI record." },
  invalid: { status: "fail", verdict: "The record cannot be read." },
};

function judgeBimi({ status, record, issues }: BimiFindings): Finding {
  return { ...BIMI[status], record, notes: record === null ? [] : issues };
}
