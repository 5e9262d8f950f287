import { PigeonholeError } from "../../base/error.js";
import { isTestDelivery } from "../../protocol/test-delivery.js";
import { bodyData } from "../model/captured-body.js";
import { CAPTURE_SOURCES, type Capture } from "../model/capture.js";

/**
 * The text of a TypeScript module with a zod schema of `data` per event type, merged over all captures of the type, and
 * `schemas` for `createReceiver({ schemas })`. All of the captures match it. It contains none of their values. Test
 * deliveries and captures without a readable envelope are skipped. Throws `no_capture` if none are left.
 */
export function generateSchemas(captures: readonly Capture[]): string {
  const groups = groupData(captures);
  if (groups.size === 0) {
    throw new PigeonholeError(
      "no_capture",
      "None of the captures has a readable event, so there are no types to write.",
    );
  }
  const names = nameTypes([...groups.keys()]);
  const parts = [...groups].map(([type, samples]) => {
    const name = names.get(type) ?? type;
    const Name = name.charAt(0).toUpperCase() + name.slice(1);
    return [
      `/** \`data\` of ${commentText(type)}, from ${count(samples.length, "capture")}. */`,
      `export const ${name} = ${printShape(learnShape(samples))};`,
      "",
      `export type ${Name} = z.infer<typeof ${name}>;`,
      "",
    ].join("\n");
  });
  const rows = [...groups.keys()].map((type) => `  ${JSON.stringify(type)}: ${names.get(type)},\n`);
  return [
    "// Written by `pigeonhole captures types` from captured deliveries, as the service documents no shapes.",
    `// Learned from ${describeCaptures(captures)}. A field is optional until ${REQUIRED_SAMPLES} of a type have had it.`,
    "// Do not edit it: run the command again, and git shows what has changed.",
    `import * as z from ${JSON.stringify("zod")};`,
    "",
    ...parts,
    "/** For createReceiver({ schemas }). */",
    `export const schemas = {\n${rows.join("")}};`,
    "",
  ].join("\n");
}

/** `12 captures (10 live, 2 production)`: how many captures of which sources. */
export function describeCaptures(captures: readonly Capture[]): string {
  const sources = CAPTURE_SOURCES.map((source) => {
    return { source, captures: captures.filter((capture) => capture.source === source).length };
  }).filter(({ captures: found }) => found > 0);
  const parts = sources.map(({ source, captures: found }) => `${found} ${source}`);
  return `${count(captures.length, "capture")} (${parts.join(", ")})`;
}

/** `email.delivery_delayed` → `emailDeliveryDelayed`; names that would collide get a number. */
function nameTypes(types: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(["z", "schemas"]);
  for (const type of types) {
    const words = type.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
    const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
    const base = words.length > 1 ? joined.charAt(0).toLowerCase() + joined.slice(1) : `${joined.toLowerCase()}Event`;
    const safe = /^[a-z]/.test(base) ? base : `event${base}`;
    let name = safe;
    for (let number = 2; taken.has(name); number += 1) name = `${safe}${number}`;
    taken.add(name);
    names.set(type, name);
  }
  return names;
}

function commentText(type: string): string {
  return type.replaceAll(/[^\w.*-]/g, "?").replaceAll("*", "?");
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The shape as a zod expression. Objects allow unknown fields: the service may add some. */
function printShape({ hasNull, singles, items, object }: Shape, indent = ""): string {
  const members: string[] = [
    ...SINGLE_KINDS.filter((kind) => singles.includes(kind)).map((kind) => `z.${kind}()`),
    ...(items === undefined ? [] : [`z.array(${printShape(items, indent)})`]),
    ...(object === undefined ? [] : [printObject(object, indent)]),
  ];
  // Only null so far, or an empty list: nothing is known about other values.
  const [first] = members;
  if (first === undefined) return "z.unknown()";
  const printed = members.length === 1 ? first : `z.union([${members.join(", ")}])`;
  return hasNull ? `z.nullable(${printed})` : printed;
}

function printObject(object: NonNullable<Shape["object"]>, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(object.fields).map(([key, field]) => {
    const printed = printShape(field, inner);
    return `${inner}${printKey(key)}: ${isOptional(field, object) ? `z.optional(${printed})` : printed},\n`;
  });
  return `z.looseObject({\n${lines.join("")}${indent}})`;
}

function printKey(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

/** `data` of the captures by event type, sorted by type; without test deliveries, to which no schema applies. */
function groupData(captures: readonly Capture[]): Map<string, object[]> {
  const groups = new Map<string, object[]>();
  for (const capture of captures) {
    const data = bodyData(capture.request.body);
    const { type } = capture.event;
    if (data === undefined || type === null || isTestDelivery(type, data)) continue;
    const samples = groups.get(type);
    if (samples === undefined) groups.set(type, [data]);
    else samples.push(data);
  }
  return new Map([...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The kinds of values that have no parts, in the order in which schemas name them. */
const SINGLE_KINDS = ["string", "number", "boolean"] as const;

/**
 * What values at one place of the samples were, as plain JSON. It has no rule about a value, such as a format or a
 * closed list: the service is free to send another, and a schema that refused it would park its event.
 */
interface Shape {
  /** Number of samples. */
  count: number;
  hasNull: boolean;
  /** Those of {@link SINGLE_KINDS} that were seen. */
  singles: string[];
  /** What the lists had; undefined when there was no list. */
  items?: Shape;
  /** What the objects had; undefined when there was no object. */
  object?: { count: number; fields: Record<string, Shape> };
}

/** Samples that must have a field before it is required. */
const REQUIRED_SAMPLES = 10;

/** The shape that all of these JSON values have. */
function learnShape(samples: readonly unknown[]): Shape {
  const shape = emptyShape();
  for (const sample of samples) addSample(shape, sample);
  return shape;
}

/** Whether a field of an object may be missing. */
function isOptional(field: Shape, { count }: { count: number }): boolean {
  return field.count < Math.max(count, REQUIRED_SAMPLES);
}

function emptyShape(): Shape {
  return { count: 0, hasNull: false, singles: [] };
}

function addSample(shape: Shape, value: unknown): void {
  shape.count += 1;
  if (value === null) shape.hasNull = true;
  else if (Array.isArray(value)) {
    const items = (shape.items ??= emptyShape());
    for (const item of value as unknown[]) addSample(items, item);
  } else if (typeof value === "object") addObject((shape.object ??= { count: 0, fields: {} }), value);
  else if (!shape.singles.includes(typeof value)) shape.singles.push(typeof value);
}

function addObject(object: NonNullable<Shape["object"]>, value: object): void {
  object.count += 1;
  for (const [key, field] of Object.entries(value)) {
    // As a field of a schema, `__proto__` would set the schema's prototype.
    if (key === "__proto__") continue;
    const known = Object.hasOwn(object.fields, key) ? object.fields[key] : undefined;
    addSample(known ?? (object.fields[key] = emptyShape()), field);
  }
}
