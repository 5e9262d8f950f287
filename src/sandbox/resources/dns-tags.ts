/** The tags of a record such as `v=DMARC1; p=none`, by name in lower case; undefined when a part is no tag. */
export function readTags(record: string): ReadonlyMap<string, string> | undefined {
  const parts = record.split(";").map((part) => part.trim());
  const tags = new Map<string, string>();
  for (const part of parts.filter((one) => one !== "")) {
    const [, name, value] = /^([a-z0-9_]+)\s*=\s*(.*)$/i.exec(part) ?? [];
    if (name === undefined || value === undefined || tags.has(name.toLowerCase())) return undefined;
    tags.set(name.toLowerCase(), value);
  }
  return tags;
}

/** True when the first tag is the version, as DMARC, DKIM and BIMI ask for. */
export function beginsWithVersion(tags: ReadonlyMap<string, string>, version: string): boolean {
  const [first] = tags;
  return first?.[0] === "v" && first[1].toUpperCase() === version;
}
