import { STRING_FORMATS, type StringFormat } from "./schema-node.js";
import { idPrefix, keepFormats } from "./string-format.js";

/** Everything seen at one place of the samples. */
export interface Observation {
  /** Number of samples. */
  count: number;
  nulls: number;
  booleans: number;
  numbers: { count: number; whole: boolean };
  strings: {
    count: number;
    /** Formats that all strings had. */
    formats: readonly StringFormat[];
    /** Prefix that all strings had; undefined before the first. */
    prefix: string | null | undefined;
    /** How often each was seen; undefined once there are too many for a closed list. */
    values: Map<string, number> | undefined;
  };
  arrays: { count: number; element: Observation };
  objects: { count: number; fields: Map<string, Observation> };
}

/** More distinct texts than this are not a closed list. */
export const MAX_ENUM_VALUES = 8;
const MAX_ENUM_VALUE_LENGTH = 40;

export function observeNothing(): Observation {
  return {
    count: 0,
    nulls: 0,
    booleans: 0,
    numbers: { count: 0, whole: true },
    strings: { count: 0, formats: STRING_FORMATS, prefix: undefined, values: new Map() },
    // Inner observations are created when they are needed.
    arrays: {
      count: 0,
      get element(): Observation {
        const element = observeNothing();
        Object.defineProperty(this, "element", { value: element, enumerable: true });
        return element;
      },
    },
    objects: { count: 0, fields: new Map() },
  };
}

/** Adds a JSON value to an observation. */
export function observeValue(seen: Observation, value: unknown): void {
  seen.count += 1;
  if (value === null) seen.nulls += 1;
  else if (typeof value === "boolean") seen.booleans += 1;
  else if (typeof value === "string") observeString(seen.strings, value);
  else if (typeof value === "number") {
    seen.numbers.count += 1;
    seen.numbers.whole &&= Number.isSafeInteger(value);
  } else if (Array.isArray(value)) {
    seen.arrays.count += 1;
    for (const item of value as unknown[]) observeValue(seen.arrays.element, item);
  } else if (typeof value === "object") observeObject(seen.objects, value);
}

function observeObject(objects: Observation["objects"], value: object): void {
  objects.count += 1;
  for (const [key, field] of Object.entries(value)) {
    // As a field of a schema, `__proto__` would set the schema's prototype.
    if (key === "__proto__") continue;
    let seen = objects.fields.get(key);
    if (seen === undefined) objects.fields.set(key, (seen = observeNothing()));
    observeValue(seen, field);
  }
}

function observeString(strings: Observation["strings"], text: string): void {
  strings.count += 1;
  strings.formats = keepFormats(text, strings.formats);
  const prefix = idPrefix(text);
  if (strings.prefix === undefined) strings.prefix = prefix;
  else if (strings.prefix !== prefix) strings.prefix = null;
  if (strings.values === undefined) return;
  strings.values.set(text.slice(0, MAX_ENUM_VALUE_LENGTH + 1), (strings.values.get(text) ?? 0) + 1);
  if (strings.values.size > MAX_ENUM_VALUES || text.length > MAX_ENUM_VALUE_LENGTH) strings.values = undefined;
}
