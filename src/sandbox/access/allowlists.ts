import type { Changes } from "../../base/options.js";
import { type Caller, invalidParameter } from "../api/api-handlers.js";

/** Addresses and domains that something is limited to, in lower case. Both empty: no limit. */
export interface Allowlists {
  addressAllowlist: readonly string[];
  domainAllowlist: readonly string[];
}

/** Lists as they are given; one that is left out is empty. */
export type GivenAllowlists = Changes<Allowlists>;

/**
 * The lists as they are stored: in lower case, without addresses whose domain is listed. See
 * docs/service.md#allowlists.
 */
export function normalizeAllowlists({ addressAllowlist = [], domainAllowlist = [] }: GivenAllowlists): Allowlists {
  const domains = [...new Set(domainAllowlist.map((domain) => domain.toLowerCase()))];
  const addresses = [...new Set(addressAllowlist.map((address) => address.toLowerCase()))];
  return {
    addressAllowlist: addresses.filter((address) => !domains.includes(domainOf(address))),
    domainAllowlist: domains,
  };
}

/** True when the lists are empty on both sides. */
export function isUnlimited({ addressAllowlist, domainAllowlist }: Allowlists): boolean {
  return addressAllowlist.length === 0 && domainAllowlist.length === 0;
}

/** True if the address or its domain is on the lists. */
export function coversAddress({ addressAllowlist, domainAllowlist }: Allowlists, address: string): boolean {
  return addressAllowlist.includes(address.toLowerCase()) || domainAllowlist.includes(domainOf(address));
}

/**
 * True if a caller's send scope contains all of the lists. One address never covers its whole domain. See
 * docs/service.md#endpoint-limits.
 */
export function holdsAllowlists(caller: Pick<Caller, keyof Allowlists>, lists: Allowlists): boolean {
  if (isUnlimited(caller)) return true;
  if (isUnlimited(lists)) return false;
  return (
    lists.addressAllowlist.every((address) => coversAddress(caller, address)) &&
    lists.domainAllowlist.every((domain) => caller.domainAllowlist.includes(domain))
  );
}

/** True when the workspace owns the address, or for `*@` and a domain the whole domain. */
export function ownsAddress(
  { addresses, domains }: { addresses: readonly string[]; domains: readonly string[] },
  address: string,
): boolean {
  // A bare domain is no address.
  return addresses.includes(address.toLowerCase()) || (address.includes("@") && domains.includes(domainOf(address)));
}

/** Throws 422 for an address that the workspace does not own, or that is `*@` for a whole domain. */
export function requireOwnAddresses(owned: Parameters<typeof ownsAddress>[0], addresses: readonly string[] = []): void {
  const foreign = addresses.findIndex((address) => address.startsWith("*@") || !ownsAddress(owned, address));
  if (foreign === -1) return;
  throw invalidParameter(`addressAllowlist.${foreign}`, "Must be an address of the workspace.");
}

/** True when a caller's send scope has the address, or for `*@` and a domain the whole domain. */
export function holdsAddress(caller: Pick<Caller, keyof Allowlists>, address: string): boolean {
  return isUnlimited(caller) || coversAddress(caller, address);
}

/** The part after the last @, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}

/** The addresses and domains of the workspace: those of the options, and the addresses of connected mailboxes. */
export class OwnedAddresses {
  /** In lower case, with every address in them. */
  readonly domains: readonly string[];
  readonly #addresses: readonly string[];
  readonly #connected = new Set<string>();

  constructor({ addresses, domains }: { addresses: readonly string[]; domains: readonly string[] }) {
    this.#addresses = addresses;
    this.domains = domains;
  }

  /** In lower case. */
  get addresses(): readonly string[] {
    return [...this.#addresses, ...this.#connected];
  }

  /** Adds the address of a mailbox, in lower case. */
  connect(address: string): void {
    this.#connected.add(address);
  }

  disconnect(address: string): void {
    this.#connected.delete(address);
  }
}
