/** A change of one field of a body: its dotted path, such as `data.recipient`, and the new value. */
export type FieldChange = readonly [path: string, value: unknown];

/** Reads `path=value`. The value is JSON if it can be parsed, and text otherwise: `data.n=3`, `data.to=a@b.c`. */
export function fieldChange(text: string): FieldChange {
  const equals = text.indexOf("=");
  if (equals < 1) throw new Error("It must be path=value, such as data.recipient=a@b.c.");
  const value = text.slice(equals + 1);
  try {
    return [text.slice(0, equals), JSON.parse(value) as unknown];
  } catch {
    return [text.slice(0, equals), value];
  }
}
