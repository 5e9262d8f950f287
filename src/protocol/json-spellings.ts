/** One way of writing a JSON value. */
export interface JsonSpelling {
  /** Completes "the same JSON …". */
  name: string;
  text: string;
}

/** The usual ways of writing a JSON value; empty for one nested too deeply to be written. */
export function jsonSpellings(value: unknown): JsonSpelling[] {
  try {
    const compact = JSON.stringify(value);
    return [
      { name: "written compactly", text: compact },
      { name: "pretty-printed with 2 spaces", text: JSON.stringify(value, null, 2) },
      { name: "pretty-printed with 4 spaces", text: JSON.stringify(value, null, 4) },
      { name: "with spaces after commas and colons", text: spaced(value) },
      { name: "with non-ASCII characters escaped", text: escaped(compact) },
      { name: "with slashes escaped", text: compact.replaceAll("/", String.raw`\/`) },
    ];
  } catch {
    return [];
  }
}

/** As Python writes it. Line ends are structure only: within strings JSON escapes them. */
function spaced(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll(/([[{])\n */g, "$1")
    .replaceAll(/\n *([\]}])/g, "$1")
    .replaceAll(/,\n */g, ", ");
}

function escaped(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
