import { PigeonholeError } from "../../base/error.js";
import { type OptionsOf, type Resolved, defineOptions, flag, readBy } from "../../base/options.js";
import { SandboxApiError } from "../api/api-handlers.js";
import { checkTexts } from "../../base/option-check.js";
import { domainName } from "../api/read-domain.js";

/** What the DNS has of one domain. The record checks of the sandbox read this table, and never a real DNS. */
export interface DomainRecords {
  /** The domain, such as `acme.example.com`. */
  domain: string;
  /** Hosts of its MX records, the preferred one first. @default [] */
  mx?: readonly string[] | undefined;
  /** Its SPF record. @default none */
  spf?: string | undefined;
  /** Its DKIM record. @default none */
  dkim?: string | undefined;
  /** Its own DMARC record. @default none: that of its shortest parent in the table counts */
  dmarc?: string | undefined;
  /** Its BIMI record. @default none */
  bimi?: string | undefined;
  /** What is at the URL of the BIMI record. @default nothing: the logo cannot be fetched */
  logoSvg?: string | undefined;
  /** True: DNS does not answer for it, and checks that ask for its records are 503 `unreachable`. @default false */
  unreachable?: boolean | undefined;
}

/** The defaults and checks of {@link DomainRecords}. */
export const DOMAIN_RECORDS = defineOptions("An entry of domainRecords", {
  domain: domainName,
  mx: readBy(checkTexts, { default: [] }),
  spf: readBy(checkText),
  dkim: readBy(checkText),
  dmarc: readBy(checkText),
  bimi: readBy(checkText),
  logoSvg: readBy(checkText),
  unreachable: flag({ default: false }),
} satisfies OptionsOf<DomainRecords>);

type KnownRecords = Resolved<typeof DOMAIN_RECORDS>;

/** The records of domains by name. */
export class DomainTable {
  readonly #initial: readonly DomainRecords[];
  readonly #domains = new Map<string, KnownRecords>();

  /** Throws `invalid_option`. */
  constructor(initial: readonly DomainRecords[]) {
    this.#initial = initial;
    this.reset();
  }

  /** Adds the records of a domain, in place of those that it had. Throws `invalid_option`. */
  set(records: DomainRecords): void {
    const checked = DOMAIN_RECORDS.resolve(records);
    this.#domains.set(checked.domain, checked);
  }

  /** A domain that is not in the table has no records. Throws 503 `unreachable` where DNS does not answer. */
  find(domain: string): Omit<KnownRecords, "domain"> {
    const records = this.#domains.get(domain) ?? NO_RECORDS;
    if (!records.unreachable) return records;
    throw new SandboxApiError({ code: "unreachable" });
  }

  /** The shortest parent that the table has, or else the domain: a table of public suffixes is not needed then. */
  organisationOf(domain: string): string {
    const labels = domain.split(".");
    const parents = labels.map((_, index) => labels.slice(-index - 1).join("."));
    return parents.find((parent) => this.#domains.has(parent)) ?? domain;
  }

  /** Every entry, in the order in which the domains were added. */
  list(): readonly object[] {
    return [...this.#domains.values()];
  }

  /** The entries that it began with. */
  reset(): void {
    this.#domains.clear();
    for (const records of this.#initial) this.set(records);
  }
}

const { domain: _, ...NO_RECORDS } = DOMAIN_RECORDS.resolve({ domain: "none.example" });

function checkText(option: string, text?: string): string | undefined {
  if (text === undefined || typeof text === "string") return text;
  throw new PigeonholeError("invalid_option", `${option} must be a text, got ${typeof text}.`);
}
