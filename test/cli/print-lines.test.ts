import pc from "picocolors";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#pigeonhole/base/clock.js";
import { createDevLines } from "#pigeonhole/cli/dev/print-lines.js";
import type { Output } from "#pigeonhole/cli/frame/output.js";
import { DevSandbox } from "#pigeonhole/dev/dev-sandbox.js";
import { serve } from "../support/mounts.js";

/** What is printed as text, line by line. */
function openOutput(): { printed: string[]; out: Output } {
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(...text.split("\n"));
  const out: Output = {
    isJson: false,
    isTerminal: false,
    paint: pc.createColors(false),
    result: (_, text) => print(text),
    raw: (text) => print(text.toString()),
    note: print,
    fail: () => 1,
  };
  return { printed, out };
}

test("advice of dev's sandbox on an endpoint that the API made names a command that can change it", async () => {
  const app = await serve((_, response) => response.writeHead(404).end());
  onTestFinished(() => app.close());
  const { printed, out } = openOutput();
  const lines = createDevLines(out, { hasSources: true });
  const sandbox: DevSandbox = await DevSandbox.start({
    port: 0,
    eventTypes: ["email.sent"],
    clock: systemClock,
    onLog: (entry) => lines.sandbox(entry, sandbox),
  });
  onTestFinished(() => sandbox.close());
  const { id } = sandbox.service.endpoints.create({ url: `${app.url}/wrong`, eventTypes: ["email.sent"] });
  sandbox.service.emit("email.sent");
  await expect.poll(() => printed.at(-1)).toContain("The app has no POST route at /wrong");
  const command = `pigeonhole endpoints update ${id} --url http://127.0.0.1:3000/hooks`;
  expect(printed.at(-1)).toContain(`or give its path, as in ${command}.`);
});
