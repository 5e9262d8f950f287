/** The kinds of values that have no parts, in the order in which schemas name them. */
export const SINGLE_KINDS = ["string", "number", "boolean"] as const;

/**
 * What values at one place of the samples were, as plain JSON. It has no rule about a value, such as a format or a
 * closed list: the service is free to send another, and a schema that refused it would park its event.
 */
export interface Shape {
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
export const REQUIRED_SAMPLES = 10;

/** The shape that all of these JSON values have. */
export function learnShape(samples: readonly unknown[]): Shape {
  const shape = emptyShape();
  for (const sample of samples) addSample(shape, sample);
  return shape;
}

/** Whether a field of an object may be missing. */
export function isOptional(field: Shape, { count }: { count: number }): boolean {
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
