import { expect, test } from "vitest";
import { asProgram, runToEnd } from "../support/start-program.js";

const SCRIPT = `
  import { createSandbox } from "pigeonhole/sandbox";
  const sandbox = createSandbox({ receive: () => new Promise(() => {}) });
  const { id } = sandbox.endpoints.create({ url: "http://127.0.0.1/hook" });
  console.log((await sandbox.endpoints.test(id)).error);
`;

test("a script does not end during an attempt that has no socket", async () => {
  const { stdout } = await runToEnd(asProgram(SCRIPT));
  expect(stdout).toBe("no answer within 5 s\n");
});
