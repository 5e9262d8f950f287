import pc from "picocolors";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#pigeonhole/base/clock.js";
import { createDevLines } from "#pigeonhole/cli/dev/print-lines.js";
import { summarizeCapture } from "#pigeonhole/capture/model/summarize-capture.js";
import type { CommandContext } from "#pigeonhole/cli/frame/context.js";
import type { Output } from "#pigeonhole/cli/frame/output.js";
import { DevSandbox } from "#pigeonhole/dev/sandbox/dev-sandbox.js";
import { makeCapture } from "../support/captures.js";
import { serve } from "../support/serve.js";

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

const FAILURE = {
  handler: "crm",
  state: "dead",
  attempts: 1,
  maxAttempts: 1,
  reason: null,
  error: "no such campaign",
  nextAt: null,
};

test("advice of dev's sandbox on an endpoint that the API made names a command that can change it", async () => {
  const app = await serve((_, response) => response.writeHead(404).end());
  const { printed, out } = openOutput();
  const lines = createDevLines({ out } as CommandContext, true);
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
  const command = `pigeonhole api webhooks.update ${id} --body '{"url":"http://127.0.0.1:3000/hooks"}'`;
  expect(printed.at(-1)).toContain(`or give its path, as in ${command}.`);
});

test("a failure that the app has printed is not printed again, and the advice once for each handler", () => {
  const { printed, out } = openOutput();
  const lines = createDevLines({ out } as CommandContext, true);
  const report = lines.createReport(() => "");
  const app = (eventId: string) =>
    lines.app(JSON.stringify({ level: 50, time: 1, msg: "handler_dead", eventId, handler: "crm", attempt: 1 }));
  const dev = (eventId: string) =>
    report({ ...FAILURE, kind: "handler_failed", eventId, capture: summarizeCapture(makeCapture()) });
  for (const eventId of ["evt_1", "evt_2"]) {
    app(eventId);
    dev(eventId);
  }
  dev("evt_3");
  expect(printed.map((line) => /^(\S+) .*?(evt_\d|✗ handler crm)/.exec(line)?.slice(1))).toEqual([
    ["app", "evt_1"],
    ["dev", "evt_1"],
    ["app", "evt_2"],
    ["dev", "✗ handler crm"],
  ]);
});
