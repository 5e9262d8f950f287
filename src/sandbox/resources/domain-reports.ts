import type { z } from "zod";
import { PigeonholeError } from "../../base/error.js";
import { type Changes, type Option, type OptionsOf, defineOptions } from "../../base/options.js";
import { checkInput } from "../../contract/check-input.js";
import type { Contract } from "../../contract/contract.js";
import { tools } from "../../contract/tools.js";
import { domainOption } from "../api/read-domain.js";

type Check = keyof Contract["tools"];
type GivenReport<Name extends Check> = Changes<z.input<Contract["tools"][Name]["result"]>>;

/** What the record checks report of one domain. The sandbox asks no DNS, and judges no record. */
export interface DomainReports {
  /** The domain, such as `acme.example.com`. */
  domain: string;
  /** Fields of its DMARC report. @default there is no record */
  dmarc?: GivenReport<"dmarc"> | undefined;
  /** Fields of its BIMI report. @default there is no record */
  bimi?: GivenReport<"bimi"> | undefined;
  /** Fields of its deliverability report. @default score 0, grade F, and no checks */
  deliverability?: GivenReport<"deliverability"> | undefined;
}

/** The reports of a domain without records. */
const WITHOUT_RECORDS: { readonly [Name in Check]: object } = {
  dmarc: { domain: "", stage: "missing", tags: {}, issues: ["There is no DMARC record."] },
  bimi: { dmarcEnforced: false, status: "absent", issues: ["There is no BIMI record."] },
  deliverability: { score: 0, grade: "F", checks: [] },
};

/** The defaults and checks of {@link DomainReports}: each report is what the contract says, filled in. */
export const DOMAIN_REPORTS = defineOptions("An entry of domainReports", {
  domain: domainOption,
  dmarc: reportOf("dmarc"),
  bimi: reportOf("bimi"),
  deliverability: reportOf("deliverability"),
} satisfies OptionsOf<DomainReports>);

function reportOf<Name extends Check>(name: Name): Option<GivenReport<Name>, object> {
  return {
    read(option, given) {
      const checked = checkInput(tools[name].result, { ...WITHOUT_RECORDS[name], ...given });
      if (checked.ok) return checked.value;
      const { param, message } = checked.issue;
      throw new PigeonholeError("invalid_option", `${option}.${param}: ${message}`);
    },
  };
}
