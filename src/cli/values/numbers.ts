/** Reads a whole number in a range; for `parse` of an option. */
export function wholeNumber({ min, max }: { min: number; max?: number }): (text: string) => number {
  const wanted = max === undefined ? `a whole number of at least ${min}` : `a whole number from ${min} to ${max}`;
  return (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)) return value;
    throw new Error(`It must be ${wanted}.`);
  };
}

/** A port to listen on; 0 lets the system choose. */
export const port = wholeNumber({ min: 0, max: 65_535 });

/** A number above 0, optionally followed by `x`: `60`, `10x`, `0.5x`. */
export function speed(text: string): number {
  const value = Number(text.replace(/x$/i, ""));
  if (/^\d+(?:\.\d+)?x?$/i.test(text) && value > 0) return value;
  throw new Error("It must be a number above 0, such as 10x.");
}

const SIZE_UNITS: Record<string, number> = { "": 1, b: 1, kb: 1024, mb: 1024 ** 2 };

/** Reads an amount of bytes such as `65536`, `64kb` or `5mb`. */
export function byteSize(text: string): number {
  const [, amount = "", unit = ""] = /^(\d+)(b|kb|mb)?$/i.exec(text) ?? [];
  const bytes = Number(amount) * (SIZE_UNITS[unit.toLowerCase()] ?? 0);
  if (bytes > 0) return bytes;
  throw new Error("It must be an amount of bytes above 0, such as 64kb or 5mb.");
}
