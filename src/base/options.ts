import { type Duration, readDuration } from "./duration.js";
import { PigeonholeError, isPigeonholeError } from "./error.js";
import { checkChoice, checkNumber, checkWholeNumber } from "./option-check.js";

// Options as data. The interface with its docstrings is the type that callers see; one definition beside it has each
// option's default and check, gives the options filled in, and refuses an option that does not exist. The tables of the
// documents come from both, and a test compares the docstrings' `@default` with the definition.

export interface OptionRange {
  min: number;
  max?: number;
}

/** One option of a definition. */
export interface Option<Given, Resolved = Given | undefined> {
  /** What counts when the option is omitted; undefined where nothing does or where it depends on something else. */
  readonly default?: unknown;
  /** True when every caller must give it. */
  readonly required?: true;
  /** The numbers that are accepted. */
  readonly range?: OptionRange;
  /** The texts that are accepted, when they are a closed list. */
  readonly choices?: readonly string[];
  /** Checks what was given and fills in the default. `option` is its name in messages. */
  readonly read: (option: string, given: Given | undefined) => Resolved;
}

/** The options of an interface. The compiler reports one that is missing, unknown or of another type. */
export type OptionsOf<Options> = {
  readonly [Name in keyof Options]-?: Option<Exclude<Options[Name], undefined>, unknown>;
};

/** Some of the options; one that is undefined counts as omitted, also under `exactOptionalPropertyTypes`. */
export type Changes<Options> = { [Name in keyof Options]?: Options[Name] | undefined };

type AnyOptions = Readonly<Record<string, Option<never, unknown>>>;

type GivenTo<Rows extends AnyOptions> = { readonly [Name in keyof Rows]?: Parameters<Rows[Name]["read"]>[1] };

/** The options, checked and filled in. */
export type Resolved<Definition> =
  Definition extends OptionsDefinition<infer Rows> ? { [Name in keyof Rows]: ReturnType<Rows[Name]["read"]> } : never;

/** Where options are given, when there are several such places. */
export interface OptionsPlace {
  /** Begins the message about an unknown option. */
  place: string;
  /** Before the name of each option in messages. */
  prefix: string;
}

export class OptionsDefinition<Rows extends AnyOptions> {
  /** The function that takes the options, such as `createClient`. */
  readonly place: string;
  readonly rows: Rows;

  constructor(place: string, rows: Rows) {
    this.place = place;
    this.rows = rows;
  }

  /** Checks all options and fills in the defaults. Throws `invalid_option`. */
  resolve(options: GivenTo<Rows>, { place = this.place, prefix = "" }: Partial<OptionsPlace> = {}): Resolved<this> {
    this.checkNames(options, place);
    const values: Readonly<Record<string, unknown>> = options;
    const resolved = Object.entries(this.rows).map(([name, { read }]) => [
      name,
      read(prefix + name, values[name] as never),
    ]);
    return Object.fromEntries(resolved) as Resolved<this>;
  }

  /**
   * Throws `invalid_option` for an option that does not exist, which would be ignored otherwise, and for a value that
   * is not an object.
   */
  checkNames(options: object, place = this.place): void {
    if (typeof options !== "object" || options === null) {
      throw new PigeonholeError(
        "invalid_option",
        `${place} takes an object with options, got ${options === null ? "null" : typeof options}.`,
      );
    }
    // Object.keys would allocate, and some of these calls are made for every delivery.
    for (const name in options) {
      if (Object.hasOwn(this.rows, name) || !Object.hasOwn(options, name)) continue;
      const known = Object.keys(this.rows).toSorted().join(", ");
      throw new PigeonholeError("invalid_option", `${place} has no option "${name}". Its options: ${known}.`);
    }
  }
}

/**
 * Defines the options of one function. Write `satisfies OptionsOf<…>` behind the rows, with the interface that callers
 * see.
 */
export function defineOptions<const Rows extends AnyOptions>(place: string, rows: Rows): OptionsDefinition<Rows> {
  return new OptionsDefinition(place, rows);
}

export function wholeNumber(of: OptionRange & { default: number }): Option<number, number>;
export function wholeNumber(of: OptionRange): Option<number>;
export function wholeNumber({ default: byDefault, ...range }: OptionRange & { default?: number }): Option<number> {
  return {
    default: byDefault,
    range,
    read(option, value = byDefault) {
      return value === undefined ? undefined : checkWholeNumber(option, value, range);
    },
  };
}

/** A whole number that every caller must give. */
export function requiredWholeNumber(range: OptionRange): Option<number, number> {
  return { required: true, range, read: (option, value) => checkWholeNumber(option, value as number, range) };
}

/** A duration, resolved to whole milliseconds in the range. Without a default, every caller must give it. */
export function duration(of: OptionRange & { default?: Duration }): Option<Duration, number> {
  const { default: byDefault, ...range } = of;
  return {
    ...(byDefault === undefined ? { required: true } : { default: byDefault }),
    range,
    read(option, value = byDefault) {
      try {
        return checkWholeNumber(option, Math.round(readDuration(value as Duration)), range);
      } catch (error) {
        if (!isPigeonholeError(error, "invalid_argument")) throw error;
        throw new PigeonholeError("invalid_option", `${option}: ${error.message}`);
      }
    },
  };
}

/** A number that need not be whole. */
export function number(of: { min: number; max: number; default: number }): Option<number, number> {
  const { default: byDefault, ...range } = of;
  const read = (option: string, value = byDefault): number => checkNumber(option, value, range);
  return { default: byDefault, range, read };
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  of: { default: NoInfer<Value> },
): Option<Value, Value>;
export function oneOf<const Value extends string>(values: readonly Value[]): Option<Value>;
export function oneOf<const Value extends string>(
  values: readonly Value[],
  { default: byDefault }: { default?: Value } = {},
): Option<Value> {
  const read = (option: string, value = byDefault): Value | undefined =>
    value === undefined ? undefined : checkChoice(option, value, values);
  return { default: byDefault, choices: values, read };
}

export function flag({ default: byDefault }: { default: boolean }): Option<boolean, boolean> {
  return {
    default: byDefault,
    read(option, value = byDefault) {
      if (typeof value === "boolean") return value;
      throw new PigeonholeError("invalid_option", `${option} must be true or false, got ${String(value)}.`);
    },
  };
}

/** A function; what it takes and returns is for the compiler. */
export function callable<Callable extends (...args: never[]) => unknown>(): Option<Callable> {
  return {
    read: (option, value) => (value === undefined ? undefined : checkFunction(option, value)),
  };
}

/** A function that every caller must give. */
export function requiredCallable<Callable extends (...args: never[]) => unknown>(): Option<Callable, Callable> {
  return { required: true, read: checkFunction };
}

function checkFunction<Callable>(option: string, value: Callable | undefined): Callable {
  if (typeof value === "function") return value;
  throw new PigeonholeError("invalid_option", `${option} must be a function, got ${typeof value}.`);
}

/** An object that every caller must give. */
export function requiredObject<Value extends object>(): Option<Value, Value> {
  return {
    required: true,
    read(option, value) {
      if (typeof value === "object" && value !== null) return value;
      throw new PigeonholeError("invalid_option", `${option} must be an object, got ${typeof value}.`);
    },
  };
}

/** A list; its items are checked where they are used. */
export function list<Item>(): Option<readonly Item[]>;
export function list<Item>(of: { default: readonly Item[] }): Option<readonly Item[], readonly Item[]>;
export function list<Item>({ default: byDefault }: { default?: readonly Item[] } = {}): Option<readonly Item[]> {
  return {
    default: byDefault,
    read(option, value = byDefault) {
      if (value === undefined || Array.isArray(value)) return value;
      throw new PigeonholeError("invalid_option", `${option} must be a list.`);
    },
  };
}

/** What every caller must give; what uses it refuses anything else. */
export function required<Value>(): Option<Value, Value> {
  return { required: true, read: (_, value) => value as Value };
}

/** Anything, for what needs no check here or is checked where it is used. */
export function given<Value>(): Option<Value>;
export function given<Value>(of: { default: Value }): Option<Value, Value>;
export function given<Value>({ default: byDefault }: { default?: Value } = {}): Option<Value> {
  return { default: byDefault, read: (_, value) => value ?? byDefault };
}

/** An option with a check of its own, which is given the default when the option is omitted. */
export function readBy<Given, Resolved>(
  read: (option: string, value: Given) => Resolved,
  of: { default: NoInfer<Given> },
): Option<Given, Resolved>;
export function readBy<Given, Resolved>(
  read: (option: string, value: Given | undefined) => Resolved,
): Option<Given, Resolved>;
export function readBy<Given, Resolved>(
  read: (option: string, value: Given) => Resolved,
  { default: byDefault }: { default?: Given } = {},
): Option<Given, Resolved> {
  return { default: byDefault, read: (option, value) => read(option, (value ?? byDefault) as Given) };
}
