import diff from "microdiff";
import { PigeonholeError } from "../../base/error.js";
import { formatPath } from "./json-path.js";

/* Without node: imports, since the page uses it too. */

/** One difference between two JSON values. */
export type JsonDifference =
  | { path: string; kind: "added"; after: unknown }
  | { path: string; kind: "removed"; before: unknown }
  | { path: string; kind: "changed"; before: unknown; after: unknown };

/**
 * Compares two JSON values by structure: the order of keys does not matter, the order of lists does. Paths in `ignore`,
 * and all below them, may differ: `$.requestId`, `$.items[*].id`, `$..updatedAt`. Throws `invalid_argument` for an
 * ignore path that cannot be read.
 */
export function compareJson(before: unknown, after: unknown, ignore: readonly string[] = []): JsonDifference[] {
  const patterns = ignore.map(readPattern);
  const found = diff({ root: before }, { root: after }, { cyclesFix: false });
  return found
    .map((difference) => ({ difference, keys: difference.path.slice(1) }))
    .filter(({ keys }) => !patterns.some((pattern) => covers(pattern, keys)))
    .map(({ difference, keys }) => nameDifference(difference, formatPath(keys)));
}

/** A difference as text for a terminal: `$.a changed from 1 to 2`. */
export function describeDifference(difference: JsonDifference): string {
  switch (difference.kind) {
    case "added":
      return `${difference.path} is new: ${shorten(difference.after)}`;
    case "removed":
      return `${difference.path} is gone, was ${shorten(difference.before)}`;
    case "changed":
      return `${difference.path} is ${shorten(difference.after)}, was ${shorten(difference.before)}`;
  }
}

function nameDifference(difference: ReturnType<typeof diff>[number], path: string): JsonDifference {
  switch (difference.type) {
    case "CREATE":
      return { path, kind: "added", after: difference.value as unknown };
    case "REMOVE":
      return { path, kind: "removed", before: difference.oldValue as unknown };
    case "CHANGE":
      return { path, kind: "changed", before: difference.oldValue as unknown, after: difference.value as unknown };
  }
}

/** A step of an ignore path; `any` is one key, `deep` any number of them. */
type Step = { kind: "key"; key: string } | { kind: "any" } | { kind: "deep" };

const STEP = /\.\.|\.?\*|\[\*\]|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([\w$-]+)/y;

function readPattern(path: string): Step[] {
  const steps: Step[] = [];
  for (let at = path.startsWith("$") ? 1 : 0; at < path.length;) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (match === null) {
      throw new PigeonholeError(
        "invalid_argument",
        `The path to ignore "${path}" cannot be read: write it as $.requestId, $.items[*].id or $..updatedAt.`,
      );
    }
    const [source, index, quoted, name] = match;
    const key = index ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? name;
    if (key !== undefined) steps.push({ kind: "key", key });
    else steps.push({ kind: source === ".." ? "deep" : "any" });
    at += source.length;
  }
  return steps;
}

/** Whether the pattern matches these keys or a parent of them. */
function covers(steps: readonly Step[], keys: readonly (string | number)[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return true;
  if (step.kind === "deep") return keys.some((_, index) => covers(rest, keys.slice(index)));
  const [key, ...below] = keys;
  if (key === undefined) return false;
  return (step.kind === "any" || step.key === String(key)) && covers(rest, below);
}

const MAX_SHOWN_LENGTH = 80;

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH - 1)}…` : text;
}
