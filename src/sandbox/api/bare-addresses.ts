/** An address of a mail with the name before it. */
export interface NamedAddress {
  address: string;
  /** Null without one. */
  name: string | null;
}

/** Addresses with their names. A comma separates, inside a name too. */
export function readNamedAddresses(given: readonly string[]): NamedAddress[] {
  return given
    .flatMap((text) => text.split(","))
    .map(readNamedAddress)
    .filter(({ address }) => address !== "");
}

/** Addresses without their names. */
export function bareAddresses(given: readonly string[]): string[] {
  return readNamedAddresses(given).map(({ address }) => address);
}

function readNamedAddress(text: string): NamedAddress {
  const at = text.lastIndexOf("<");
  const [, address] = /^<([^<>]*)>\s*$/.exec(text.slice(at)) ?? [];
  if (at === -1 || address === undefined) return { address: text.trim(), name: null };
  const name = text.slice(0, at).replaceAll('"', "").trim();
  return { address: address.trim(), name: name === "" ? null : name };
}
