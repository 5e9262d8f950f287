const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2 };

/** Reads an amount of bytes such as `500`, `64k`, `64kb` or `1.5mb`; undefined for any other text. */
export function readByteSize(text: string): number | undefined {
  const [, amount, unit = "b"] = /^(\d{1,12}(?:\.\d{1,3})?)(b|kb?|mb?)?$/i.exec(text) ?? [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1));
}
