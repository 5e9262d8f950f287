import { PigeonholeError } from "../../base/error.js";

/* Without node: imports, since the page uses it too. */

/** Changes to a JSON body; paths as in `data.contact.email` or `data.to.0`. */
export interface JsonEdit {
  /** Values by path. Missing objects on the path are created. */
  set?: Readonly<Record<string, unknown>>;
  /** Paths to delete. */
  unset?: readonly string[];
}

/**
 * Changes a JSON text and serializes it again, compact, with its order of keys. Throws `invalid_argument` if the text
 * is not JSON or a path leads through a value without fields. The message contains no part of the body.
 */
export function editJson(text: string, { set = {}, unset = [] }: JsonEdit): string {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    throw new PigeonholeError("invalid_argument", "The body is not JSON, so no field of it can be set.");
  }
  for (const [path, value] of Object.entries(set)) setAt(root, path, value);
  for (const path of unset) unsetAt(root, path);
  return JSON.stringify(root);
}

type Container = Record<string, unknown> | unknown[];

function setAt(root: unknown, path: string, value: unknown): void {
  const { keys, last } = splitPath(path);
  let holder = container(root, path);
  for (const key of keys) {
    const next = read(holder, key);
    if (next === undefined) write(holder, key, {}, path);
    holder = container(next ?? read(holder, key), path);
  }
  write(holder, last, value, path);
}

function unsetAt(root: unknown, path: string): void {
  const { keys, last } = splitPath(path);
  let holder: unknown = root;
  for (const key of keys) holder = isContainer(holder) ? read(holder, key) : undefined;
  if (Array.isArray(holder) && /^\d+$/.test(last)) holder.splice(Number(last), 1);
  else if (isContainer(holder)) Reflect.deleteProperty(holder, last);
}

function splitPath(path: string): { keys: string[]; last: string } {
  const keys = path.replace(/^\$\.?/, "").split(".");
  const last = keys.pop() ?? "";
  if (last === "" || keys.includes("")) {
    throw new PigeonholeError(
      "invalid_argument",
      `"${path}" is not a path: write it as data.contact.email or data.to.0.`,
    );
  }
  return { keys, last };
}

function read(holder: Container, key: string): unknown {
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined;
}

function write(holder: Container, key: string, value: unknown, path: string): void {
  if (Array.isArray(holder) && !(/^\d+$/.test(key) && Number(key) <= holder.length)) {
    throw new PigeonholeError(
      "invalid_argument",
      `"${path}" leads into a list: "${key}" must be one of its positions.`,
    );
  }
  // Defined, not assigned: a key may be __proto__.
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

function container(value: unknown, path: string): Container {
  if (isContainer(value)) return value;
  throw new PigeonholeError(
    "invalid_argument",
    `"${path}" leads through something that is neither an object nor a list.`,
  );
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}
