import type { Contract } from "../../contract/contract.js";
import { invalidParameter } from "../api/api-handlers.js";
import { readDomain } from "../api/read-domain.js";
import { DOMAIN_REPORTS } from "./domain-reports.js";
import type { SandboxResource, Workspace } from "./resource.js";

/** The checks of records, answered from the reports of the options. See docs/service.md#record-checks. */
export function createTools({ options }: Workspace): SandboxResource<"tools"> {
  const known = options.domainReports.map((given) => DOMAIN_REPORTS.resolve(given));
  const report =
    (check: keyof Contract["tools"]) =>
    ({ query }: { query: { domain: string } }): object => {
      const domain = readDomain(query.domain);
      if (domain === undefined) throw invalidParameter("domain", "Must be a domain, an address or a URL.");
      const reports = known.find((one) => one.domain === domain) ?? DOMAIN_REPORTS.resolve({ domain });
      return { ...reports[check], ...(check === "dmarc" && { domain }) };
    };
  const handlers = { dmarc: report("dmarc"), bimi: report("bimi"), deliverability: report("deliverability") };
  return { handlers, rows: () => known, reset: () => {} };
}
