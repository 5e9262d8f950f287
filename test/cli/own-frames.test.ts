import { expect, test } from "vitest";
import { ownFrames } from "#pigeonhole/cli/frame/format.js";

const OURS = "    at #run (file:///app/node_modules/pigeonhole/dist/dispatch/runner.js:31:21)";
const OWN = "    at onSent (/app/src/handlers.ts:9:9)";

test.each([
  ["others", ["Error: away", OWN, OURS], ["Error: away", OWN]],
  ["a cause", ["Error: away", OWN, OURS, "cause: Error: no", OWN], ["Error: away", OWN, "cause: Error: no", OWN]],
  ["no others", ["Error: away", OURS], ["Error: away", OURS]],
  ["none", ["Error: away"], ["Error: away"]],
])("frames of this package are left out beside %s", (_, lines, expected) => {
  expect(ownFrames(lines)).toEqual(expected);
});
