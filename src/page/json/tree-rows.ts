import type { JsonContainer, JsonNode } from "./parse-json.js";

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

/** The first lines of the tree, at most so many, without the folded parts. */
export function listTreeRows(root: JsonNode, { openDepth, switched }: Folds, most: number): TreeRow[] {
  const rows: TreeRow[] = [];
  const visitMembers = (node: JsonContainer, parent: string, depth: number) => {
    const isIndex = node.kind === "array";
    for (const { name, node: member } of node.members) {
      if (rows.length >= most) return;
      visit(member, { path: joinPath(parent, name, isIndex), depth, name, isIndex });
    }
  };
  const visit = (node: JsonNode, place: Pick<TreeRow, "path" | "depth" | "name" | "isIndex">) => {
    const canFold = "members" in node && node.count > 0;
    const isOpen = canFold ? place.depth < openDepth !== switched.has(place.path) : null;
    rows.push({ ...place, node, isOpen });
    if (canFold && isOpen === true) visitMembers(node, place.path, place.depth + 1);
  };
  // The root's own braces are not shown: its members are the first lines.
  if ("members" in root && root.count > 0) visitMembers(root, "", 0);
  else visit(root, { path: "", depth: 0, name: "", isIndex: false });
  return rows;
}

/** Whether the whole tree has more values than `most`; looks at no more of them. */
export function hasMoreValues(root: JsonNode, most: number): boolean {
  let left = most;
  const count = (node: JsonNode): boolean => {
    left -= 1;
    if (left < 0 || !("members" in node)) return left < 0;
    for (const member of node.members) if (count(member.node)) return true;
    return false;
  };
  return count(root);
}

/** The value as indented JSON text, for the clipboard. */
export function writeJson(node: JsonNode, indent = ""): string {
  if (!("members" in node)) return node.text;
  const [open, close] = node.kind === "array" ? "[]" : "{}";
  if (node.count === 0) return `${open}${close}`;
  const inner = `${indent}  `;
  const lines = Array.from(node.members, ({ name, node: member }) => {
    const label = node.kind === "array" ? "" : `${JSON.stringify(name)}: `;
    return `${inner}${label}${writeJson(member, inner)}`;
  });
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

/** Path of a member in the syntax of the search language: `data.to[0]`, `data["odd name"]`. */
function joinPath(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`;
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
