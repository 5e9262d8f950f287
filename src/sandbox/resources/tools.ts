import type { ApiHandlers, HandlerAnswer } from "../api/api-handlers.js";
import { invalidParameter } from "../endpoints/check-endpoint.js";
import { checkBimi } from "./check-bimi.js";
import { checkDeliverability } from "./check-deliverability.js";
import { checkDmarc } from "./check-dmarc.js";
import type { DomainTable } from "./domain-records.js";
import { readDomain } from "../api/read-domain.js";
import type { SandboxResource, Workspace } from "./resource.js";

/** The checks of records, answered from the table of domains. See docs/service.md#record-checks. */
export function createTools({ domainTable }: Workspace): SandboxResource<"tools"> {
  const checkBy =
    (check: (domain: string, table: DomainTable) => object) =>
    ({ query }: { query: { domain: string } }): HandlerAnswer => {
      const domain = readDomain(query.domain);
      if (domain === undefined) throw invalidParameter("domain", "Must be a domain, an address or a URL.");
      return { body: check(domain, domainTable) };
    };
  const handlers: ApiHandlers["tools"] = {
    dmarc: checkBy(checkDmarc),
    bimi: checkBy(checkBimi),
    deliverability: checkBy(checkDeliverability),
  };
  return { handlers, rows: () => domainTable.list(), reset: () => domainTable.reset() };
}
