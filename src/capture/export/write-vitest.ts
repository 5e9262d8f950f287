import { bodyJson } from "../model/captured-body.js";
import type { Capture, CapturedBody } from "../model/capture.js";
import { lastAnswerRemark, redactionRemark } from "./remarks.js";

/** One readable vitest test per capture, which delivers its event to a receiver that you name. */
export function writeVitest(captures: readonly Capture[]): string {
  const tests = captures.filter(isEvent).flatMap(writeTest);
  const redactions = [...new Set(captures.map(redactionRemark))].filter((text) => text !== "");
  const left = captures.length - tests.length;
  const head = [
    importLine("afterAll, expect, test", "vitest"),
    importLine("deliver", "pigeonhole/testing"),
    '// Your receiver, created with the secret TEST_SECRET of pigeonhole/testing and the store ":memory:".',
    importLine("receiver", "../src/receiver.js"),
    "",
    "afterAll(() => receiver.stop({ timeoutMs: 0 }));",
    ...(redactions.length === 0 ? [] : ["", ...redactions.map((text) => `// ${text}`)]),
    ...(left === 0
      ? []
      : ["", `// Left out: ${left} ${left === 1 ? "capture" : "captures"} without a readable event.`]),
  ];
  return `${[...head, ...tests].join("\n")}\n`;
}

function importLine(names: string, from: string): string {
  return `import { ${names} } from ${JSON.stringify(from)};`;
}

function isEvent(capture: Capture): boolean {
  return capture.event.id !== null && capture.event.type !== null;
}

function writeTest(capture: Capture): string[] {
  const { id, event, request, expect } = capture;
  const literal = writeLiteral(request.body);
  if (literal === undefined) return [];
  const outcome = expect?.outcome ?? "accepted";
  const isHandled = outcome !== "parked";
  const answer = lastAnswerRemark(capture);
  const text = `${answer === "" ? "" : `\n// ${answer}`}
test(${JSON.stringify(`${event.type} of ${id} is ${isHandled ? "handled" : "parked"}`)}, async () => {
  const event = ${literal};
  const { outcome${isHandled ? ", handlers" : ""} } = await deliver(receiver, event);
  expect(outcome).toBe(${JSON.stringify(outcome)});${isHandled ? HANDLERS_DONE : ""}
});`;
  return [text];
}

const HANDLERS_DONE = `
  expect(handlers.filter(({ state }) => state !== "done")).toEqual([]);`;

/** Undefined for data that is nested too deeply to be written. */
function writeLiteral(body: CapturedBody): string | undefined {
  const json = bodyJson(body);
  try {
    return JSON.stringify(json.ok ? json.value : null, undefined, 2).replaceAll("\n", "\n  ");
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
