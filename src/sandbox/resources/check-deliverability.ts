import { type BimiFindings, checkBimi } from "./check-bimi.js";
import { type DmarcStage, checkDmarc } from "./check-dmarc.js";
import { beginsWithVersion, readTags } from "./dns-tags.js";
import type { DomainTable } from "./domain-records.js";

type RecordStatus = "pass" | "warn" | "fail" | "absent";

export interface DeliverabilityFindings {
  score: number;
  grade: string;
  provider: string | null;
  checks: readonly {
    id: string;
    label: string;
    status: RecordStatus;
    verdict: string;
    record: string | null;
    notes: readonly string[];
  }[];
}

/** How much of the score each check is worth; a warning is worth half. */
const WEIGHTS = { mx: 20, spf: 25, dkim: 25, dmarc: 25, bimi: 5 } as const;

/** The grades from the score of 90 down, in steps of 10. */
const GRADES = ["A", "B", "C", "D", "E"];

/** Providers by the end of their MX hosts. */
const PROVIDER = /(?:^|\.)(?:(google(?:mail)?\.com)|outlook\.com)\.?$/i;

const VERDICTS: Readonly<Record<RecordStatus, string>> = {
  pass: "The record is in order.",
  warn: "The record asks too little of inboxes.",
  fail: "The record cannot be used.",
  absent: "There is no record.",
};

/** Rates the records of a domain. The score and the grades are made up. See docs/service.md#record-checks. */
export function checkDeliverability(domain: string, table: DomainTable): DeliverabilityFindings {
  const { mx, spf, dkim } = table.find(domain);
  const [dmarc, bimi] = [checkDmarc(domain, table), checkBimi(domain, table)];
  const found = {
    mx: { status: mx.length === 0 ? "absent" : "pass", record: mx.length === 0 ? null : mx.join(", ") },
    spf: { status: spf === undefined ? "absent" : judgeSpf(spf), record: spf ?? null },
    dkim: { status: dkim === undefined ? "absent" : judgeDkim(dkim), record: dkim ?? null },
    dmarc: { status: OF_DMARC[dmarc.stage], record: dmarc.record, notes: dmarc.issues },
    bimi: { status: OF_BIMI[bimi.status], record: bimi.record, notes: bimi.issues },
  } satisfies Record<string, { status: RecordStatus; record: string | null; notes?: readonly string[] }>;
  const ids = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];
  const score = Math.round(ids.reduce((sum, id) => sum + WEIGHTS[id] * WORTH[found[id].status], 0));
  const [host, google] = PROVIDER.exec(mx[0] ?? "") ?? [];
  return {
    score,
    grade: GRADES[Math.max(0, 9 - Math.floor(score / 10))] ?? "F",
    provider: host === undefined ? null : google === undefined ? "microsoft" : "google",
    checks: ids.map((id) => {
      const { status, record, ...rest } = found[id];
      const notes = "notes" in rest && record !== null ? rest.notes : [];
      return { id, label: id.toUpperCase(), status, verdict: VERDICTS[status], record, notes };
    }),
  };
}

const WORTH: Readonly<Record<RecordStatus, number>> = { pass: 1, warn: 0.5, fail: 0, absent: 0 };

/** The record must refuse other hosts, and may not let every host send. */
function judgeSpf(record: string): RecordStatus {
  const [, sign] = /\s([-~?+]?)all\s*$/i.exec(record) ?? [];
  if (!/^v=spf1(?:\s|$)/i.test(record) || sign === "" || sign === "+") return "fail";
  return sign === "-" || sign === "~" ? "pass" : "warn";
}

/** The version may be left out, unlike that of DMARC; an empty key is revoked. */
function judgeDkim(record: string): RecordStatus {
  const tags = readTags(record);
  const isReadable = tags !== undefined && (!tags.has("v") || beginsWithVersion(tags, "DKIM1"));
  return isReadable && (tags.get("p") ?? "") !== "" ? "pass" : "fail";
}

const OF_DMARC: Readonly<Record<DmarcStage, RecordStatus>> = {
  missing: "absent",
  invalid: "fail",
  monitor: "warn",
  quarantine: "pass",
  reject: "pass",
};

const OF_BIMI: Readonly<Record<BimiFindings["status"], RecordStatus>> = {
  present: "pass",
  partial: "warn",
  absent: "absent",
  invalid: "fail",
};
