import { PigeonholeError } from "../../base/error.js";
import { type Option, type OptionsOf, defineOptions } from "../../base/options.js";
import { checkInput } from "../../contract/check-input.js";
import type { Contract } from "../../contract/contract.js";
import { tools } from "../../contract/tools.js";
import { domainOption, readDomain } from "../api/addresses.js";
import { invalidParameter } from "../api/api-handlers.js";
import type { DomainReports, GivenReport, SandboxResource, Workspace } from "./resource.js";

type Check = keyof Contract["tools"];

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

/** The checks of records, answered from the reports of the options. See docs/service.md#record-checks. */
export function createTools({ options }: Workspace): SandboxResource<"tools"> {
  const known = options.domainReports.map((given) => DOMAIN_REPORTS.resolve(given));
  const report =
    (check: Check) =>
    ({ query }: { query: { domain: string } }): object => {
      const domain = readDomain(query.domain);
      if (domain === undefined) throw invalidParameter("domain", "Must be a domain, an address or a URL.");
      const reports = known.find((one) => one.domain === domain) ?? DOMAIN_REPORTS.resolve({ domain });
      return { ...reports[check], ...(check === "dmarc" && { domain }) };
    };
  const handlers = { dmarc: report("dmarc"), bimi: report("bimi"), deliverability: report("deliverability") };
  return { handlers, rows: () => known, reset: () => {} };
}
