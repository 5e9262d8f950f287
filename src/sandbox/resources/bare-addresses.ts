/** Addresses without their names. A comma separates, inside a name too. */
export function bareAddresses(given: readonly string[]): string[] {
  const parts = given.flatMap((text) => text.split(","));
  return parts.map((part) => (/<([^<>]*)>\s*$/.exec(part)?.[1] ?? part).trim()).filter((part) => part !== "");
}
