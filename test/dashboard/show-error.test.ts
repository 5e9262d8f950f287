import { describe, expect, test } from "vitest";
import { showError } from "#pigeonhole/web/show-error.js";

const hide = () => "[hidden]";

describe("an error as it is shown", () => {
  test.each([
    ["TypeError: of Jane", "TypeError: [hidden]"],
    ["Prisma.Known: of Jane", "Prisma.Known: [hidden]"],
    ["data.contacts.jane: invalid_type", "[hidden]"],
  ])("keeps the name of an error, but no path of a field: %s", (error, shown) => {
    expect(showError(error, hide)).toBe(shown);
  });

  test.each([
    "at load (file:///app/load.js:3:7)",
    "at async Server.onRequest [as handle] (/app/node_modules/.pnpm/@x+y@1.0.0/node_modules/@x/y/index.js:30:17)",
    "at new Promise (<anonymous>)",
    "at async Promise.all (index 0)",
    "at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
    "at Object.<anonymous> (C:\\app\\load.js:3:7)",
    "at webpack-internal:///./src/load.ts:3:7",
    "at async file:///app/load.js:3:7",
  ])("keeps the frame %s", (frame) => {
    expect(showError(`TypeError: of Jane\n    ${frame}`, hide)).toBe(`TypeError: [hidden]\n    ${frame}`);
  });

  test.each([
    "\n    at Jane Oconnor (jane@secret.example:1:2)",
    "\n    at Jane Oconnor (/home/x.js:1:2)",
    "\n    at x (/home/jane@secret.example:1:2)",
    "\n    at x (/home/Jane Oconnor:1:2)",
    "\n    at jane@secret.example:1:2",
    "\n    at x (jane:oconnor:1:2)",
    "\n    at Jane Oconnor (<anonymous>)",
    "\n    at x (file:///a.js:1:2)\nJane",
    "\n\tat Jane (native)",
    "\nCaused by: Jane.Oconnor: x",
    "\nCaused by: Jane: x",
  ])("hides lines of a message that look like frames or causes: %j", (lines) => {
    const shown = showError(`Error: boom${lines}\n    at load (file:///app/load.js:3:7)`, hide);
    expect(shown).not.toMatch(/jane|oconnor|secret/i);
    expect(shown).toMatch(/^Error: \[hidden\]\n[^]* {4}at load \(file:\/\/\/app\/load\.js:3:7\)$/);
  });
});
