import { describe, expect, test } from "vitest";
import {
  type OptionsOf,
  type Resolved,
  callable,
  defineOptions,
  flag,
  given,
  list,
  number,
  oneOf,
  readBy,
  required,
  wholeNumber,
} from "#pigeonhole/base/options.js";

interface Options {
  id: string;
  tries?: number;
  limit?: number;
  share?: number;
  mode?: "fast" | "slow" | "off";
  kind?: "a" | "b";
  loud?: boolean;
  onEnd?: () => void;
  names?: readonly string[];
  label?: string;
  anything?: object;
}

const OPTIONS = defineOptions("doIt", {
  id: required<string>(),
  tries: wholeNumber({ default: 3, min: 1 }),
  limit: wholeNumber({ min: 0, max: 1_000 }),
  share: number({ default: 0.5, min: 0, max: 1 }),
  mode: oneOf(["fast", "slow", "off"], { default: "fast" }),
  kind: oneOf(["a", "b"]),
  loud: flag({ default: false }),
  onEnd: callable<() => void>(),
  names: list<string>({ default: [] }),
  label: readBy((option, label: string) => `${option}: ${label}`, { default: "none" }),
  anything: given<object>(),
} satisfies OptionsOf<Options>);

/** The compiler says of each what it is once it is filled in. */
const defaults: Resolved<typeof OPTIONS> = {
  id: "x",
  tries: 3,
  limit: undefined,
  share: 0.5,
  mode: "fast",
  kind: undefined,
  loud: false,
  onEnd: undefined,
  names: [],
  label: "label: none",
  anything: undefined,
};

test("an option that is omitted or undefined gets its default", () => {
  expect(OPTIONS.resolve({ id: "x" })).toEqual(defaults);
  expect(OPTIONS.resolve({ id: "x", tries: undefined, mode: undefined, loud: undefined })).toEqual(defaults);
});

test("an option that is given is used", () => {
  const onEnd = (): void => undefined;
  const options: Options = {
    id: "y",
    tries: 1,
    limit: 1_000,
    share: 0.25,
    mode: "off",
    kind: "b",
    loud: true,
    onEnd,
    names: ["n"],
    label: "l",
  };
  expect(OPTIONS.resolve(options)).toEqual({ ...options, label: "label: l", anything: undefined });
});

test.each<[options: object, message: string]>([
  [{ tries: 0 }, "tries must be a whole number of at least 1, got 0."],
  [{ tries: 1.5 }, "tries must be a whole number of at least 1, got 1.5."],
  [{ tries: Number.NaN }, "tries must be a whole number of at least 1, got NaN."],
  [{ tries: "3" }, "tries must be a whole number of at least 1, got 3."],
  [{ tries: null }, "tries must be a whole number of at least 1, got null."],
  [{ limit: -1 }, "limit must be a whole number from 0 to 1000, got -1."],
  [{ limit: 1_001 }, "limit must be a whole number from 0 to 1000, got 1001."],
  [{ share: 1.01 }, "share must be a number from 0 to 1, got 1.01."],
  [{ share: Number.NaN }, "share must be a number from 0 to 1, got NaN."],
  [{ mode: "Fast" }, 'mode must be "fast", "slow" or "off", got "Fast".'],
  [{ kind: "c" }, 'kind must be "a" or "b", got "c".'],
  [{ loud: "yes" }, "loud must be true or false, got yes."],
  [{ onEnd: {} }, "onEnd must be a function, got object."],
  [{ names: "n" }, "names must be a list."],
])("the options %o are refused", (options, message) => {
  expect(() => OPTIONS.resolve({ id: "x", ...options })).toThrow(
    expect.objectContaining({ code: "invalid_option", message }),
  );
});

describe("an unknown option", () => {
  const known = "anything, id, kind, label, limit, loud, mode, names, onEnd, share, tries";

  test("an unknown option is refused with a list of the known ones", () => {
    const message = `doIt has no option "trys". Its options: ${known}.`;
    expect(() => OPTIONS.resolve({ id: "x", trys: 1 } as never)).toThrow(message);
    expect(() => OPTIONS.checkNames({ trys: undefined })).toThrow(message);
  });

  test.each(["toString", "constructor", "hasOwnProperty"])(
    "the name %s, which every object has, is refused as an unknown option",
    (name) => {
      expect(() => OPTIONS.checkNames({ [name]: 1 })).toThrow(`doIt has no option "${name}"`);
    },
  );

  test("an unknown option is ignored if it is inherited, as the methods of a class are", () => {
    expect(() => OPTIONS.checkNames(Object.create({ trys: 1 }) as object)).not.toThrow();
  });
});

test.each([null, undefined, 5, "text"])("the value %j in place of an options object is refused", (options) => {
  expect(() => OPTIONS.resolve(options as never)).toThrow(/^doIt takes an object with options, got /);
});

test("the caller can say where the options were given and what precedes their names", () => {
  const at = { place: "handler h", prefix: "h." };
  expect(() => OPTIONS.resolve({ trys: 1 } as never, at)).toThrow('handler h has no option "trys"');
  expect(() => OPTIONS.resolve({ id: "x", tries: 0 }, at)).toThrow("h.tries must be");
  expect(OPTIONS.resolve({ id: "x" }, at).label).toBe("h.label: none");
});
