import { expect, test } from "vitest";
import { withoutScriptLines } from "#pigeonhole/cli/dev/print-lines.js";

const WARNING = 'npm warn Unknown user config "x". This will stop working in the next major version of npm.';

test.each([
  ["npm", ["", "> app@0.0.0 app", "> tsx watch src/server.ts", "", "up", "", "> a@1 b"], ["up", "", "> a@1 b"]],
  ["a script in a script", ["> app@0.0.0 app", "> npm run x", "", "> app@0.0.0 x", "> node x.js", "", "up"], ["up"]],
  ["no manager", ["up", "> app@0.0.0 app"], ["up", "> app@0.0.0 app"]],
  ["npm after a warning", [WARNING, "", "> a@1 app", "> tsx x.ts", "", "up", "> a@1 b"], [WARNING, "up", "> a@1 b"]],
  ["npm after two warnings", [WARNING, WARNING, "> a@1 app", "> tsx x.ts", "up"], [WARNING, WARNING, "up"]],
  ["a name without a command", ["> app@0.0.0 app", "up"], ["up"]],
])("the lines of %s before the app's own are left out", (_, lines, expected) => {
  const printed: string[] = [];
  const print = withoutScriptLines((line) => void printed.push(line));
  for (const line of lines) print(line);
  expect(printed).toEqual(expected);
});
