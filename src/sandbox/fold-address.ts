/** An address as the service stores it. */
export function foldAddress(address: string): string {
  return address.trim().toLowerCase();
}
