import { badField } from "./page-api-error.js";

/** Fields of a JSON body, each checked as it is read. A field that is absent reads as undefined. */
export class BodyFields {
  readonly #values: Record<string, unknown>;

  constructor(json: unknown) {
    if (typeof json !== "object" || json === null || Array.isArray(json))
      throw badField("body", "must be a JSON object.");
    this.#values = json as Record<string, unknown>;
  }

  text(name: string, longest: number): string | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    if (typeof value !== "string") throw badField(name, "must be a string.");
    if (value.length > longest) throw badField(name, `must have at most ${longest} characters.`);
    return value;
  }

  flag(name: string): boolean | undefined {
    const value = this.#read(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw badField(name, "must be true or false.");
  }

  count(name: string, most: number): number | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return value;
    throw badField(name, `must be a whole number from 0 to ${most}.`);
  }

  choice<const Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    const found = values.find((candidate) => candidate === value);
    if (found !== undefined) return found;
    throw badField(name, `must be one of ${values.join(", ")}.`);
  }

  texts(name: string, limits: { most: number; longest: number }): string[] | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.length <= limits.most;
    if (isList && value.every((text) => typeof text === "string" && text.length <= limits.longest))
      return value as string[];
    throw badField(name, `must be a list of at most ${limits.most} texts of at most ${limits.longest} characters.`);
  }

  /** A JSON object, whose fields are not checked. */
  record(name: string): Record<string, unknown> | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw badField(name, "must be an object.");
  }

  #read(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }
}

/** The value of a required field. */
export function requireField<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined) throw badField(name, "is missing.");
  return value;
}
