/** One line of the tree. */
export interface TreeRow {
  path: string;
  depth: number;
  /** Name or index in the parent; empty for the root. */
  name: string;
  isIndex: boolean;
  value: unknown;
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

export function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Members of an object, or items of an array. */
export function countMembers(value: object): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** The first lines of the tree, at most so many, without the folded parts. */
export function listTreeRows(root: unknown, { openDepth, switched }: Folds, most: number): TreeRow[] {
  const rows: TreeRow[] = [];
  const visitMembers = (parent: object, path: string, depth: number) => {
    const isIndex = Array.isArray(parent);
    for (const name in parent) {
      if (rows.length >= most) return;
      const value = (parent as Record<string, unknown>)[name];
      visit(value, { path: joinPath(path, name, isIndex), depth, name, isIndex });
    }
  };
  const visit = (value: unknown, place: Pick<TreeRow, "path" | "depth" | "name" | "isIndex">) => {
    const canFold = isContainer(value) && countMembers(value) > 0;
    const isOpen = canFold ? place.depth < openDepth !== switched.has(place.path) : null;
    rows.push({ ...place, value, isOpen });
    if (canFold && isOpen === true) visitMembers(value, place.path, place.depth + 1);
  };
  // The root's own braces are not shown: its members are the first lines.
  if (isContainer(root) && countMembers(root) > 0) visitMembers(root, "", 0);
  else visit(root, { path: "", depth: 0, name: "", isIndex: false });
  return rows;
}

/** Path of a member in the syntax of the search language: `data.to[0]`, `data["odd name"]`. */
function joinPath(path: string, name: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${name}]`;
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
