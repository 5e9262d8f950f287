import { joinPath } from "./json-path.js";
import type { JsonNode } from "./parse-json.js";

/** One line of the tree. */
export interface TreeRow {
  path: string;
  depth: number;
  /** Name or index in the parent; empty for the root. */
  name: string;
  isIndex: boolean;
  node: JsonNode;
  /** Null if there is nothing to fold. */
  isOpen: boolean | null;
}

/** Which parts of the tree are open: those above a depth, except the ones that were switched. */
export interface Folds {
  /** Parts at this depth and below are folded. */
  openDepth: number;
  /** Paths of the parts that are the other way. */
  switched: ReadonlySet<string>;
}

/** Lines of the tree without the folded parts. */
export function listTreeRows(root: JsonNode, { openDepth, switched }: Folds): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (node: JsonNode, place: Pick<TreeRow, "path" | "depth" | "name" | "isIndex">) => {
    const canFold = "members" in node && node.members.length > 0;
    const isOpen = canFold ? place.depth < openDepth !== switched.has(place.path) : null;
    rows.push({ ...place, node, isOpen });
    if (!("members" in node) || isOpen !== true) return;
    const isIndex = node.kind === "array";
    for (const member of node.members) {
      const path = joinPath(place.path, member.name, isIndex);
      visit(member.node, { path, depth: place.depth + 1, name: member.name, isIndex });
    }
  };
  // The root's own braces are not shown: its members are the first lines.
  if ("members" in root && root.members.length > 0) {
    for (const { name, node } of root.members) {
      const isIndex = root.kind === "array";
      visit(node, { path: joinPath("", name, isIndex), depth: 0, name, isIndex });
    }
  } else visit(root, { path: "", depth: 0, name: "", isIndex: false });
  return rows;
}

/** Whether the whole tree has more values than `most`; looks at no more of them. */
export function hasMoreValues(root: JsonNode, most: number): boolean {
  let left = most;
  const count = (node: JsonNode): boolean => {
    left -= 1;
    return left < 0 || ("members" in node && node.members.some((member) => count(member.node)));
  };
  return count(root);
}

/** The value as indented JSON text, for the clipboard. */
export function writeJson(node: JsonNode, indent = ""): string {
  if (!("members" in node)) return node.text;
  const [open, close] = node.kind === "array" ? "[]" : "{}";
  if (node.members.length === 0) return `${open}${close}`;
  const inner = `${indent}  `;
  const lines = node.members.map(({ name, node: member }) => {
    const label = node.kind === "array" ? "" : `${JSON.stringify(name)}: `;
    return `${inner}${label}${writeJson(member, inner)}`;
  });
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}
