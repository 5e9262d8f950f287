import { compareJson } from "../../capture/json/compare-json.js";

/** One place where two JSON values differ. */
export interface Difference {
  path: string;
  kind: "added" | "removed" | "changed";
  /** JSON text; null if there is none. */
  before: string | null;
  after: string | null;
}

/** Places where two values differ. */
export function listDifferences(before: unknown, after: unknown): Difference[] {
  return compareJson(before, after).map((found) => ({
    path: found.path.replace(/^\$\.?/, "").replace(/^\["([^"\\]*)"\]$/, "$1"),
    kind: found.kind,
    before: found.kind === "added" ? null : writeValue(found.before),
    after: found.kind === "removed" ? null : writeValue(found.after),
  }));
}

function writeValue(value: unknown): string {
  return JSON.stringify(value) ?? "undefined";
}

/** The JSON value if the text is JSON, otherwise the text. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
