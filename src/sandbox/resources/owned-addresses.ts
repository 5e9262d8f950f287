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
