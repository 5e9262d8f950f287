import { expect, test } from "vitest";
import { errorMessage, errorName } from "#pigeonhole/base/error-text.js";

test.each<[thrown: unknown, message: string, name: string]>([
  [new TypeError("no URL"), "no URL", "TypeError"],
  ["no URL", "no URL", "string"],
  [undefined, "undefined", "undefined"],
  [7, "7", "number"],
])("of the thrown value %o the message is %j and the name %j", (thrown, message, name) => {
  expect(errorMessage(thrown)).toBe(message);
  expect(errorName(thrown)).toBe(name);
});
