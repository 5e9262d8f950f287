import { expect, test } from "vitest";
import { formatAppLine } from "#pigeonhole/cli/dev/format-app-line.js";
import pc from "picocolors";

const ESC = String.fromCodePoint(27);
const TIME = new Date(2026, 10, 22, 9, 5, 7).getTime();

const pino = (fields: object): string => JSON.stringify({ level: 30, time: TIME, pid: 7, hostname: "vm", ...fields });
const format = (line: string): string => formatAppLine(line, pc.createColors(false));

test("a JSON line of pino becomes time, level, message and fields", () => {
  const line = pino({
    level: 40,
    name: "pigeonhole",
    eventId: "evt_1",
    attempt: 2,
    at: ["a b"],
    msg: "handler_failed",
  });
  expect(format(line)).toBe('09:05:07  warn   handler_failed  name=pigeonhole  eventId=evt_1  attempt=2  at=["a b"]');
});

test("the places where a handler threw follow on lines of their own, without those of this package", () => {
  const own = ["at onSent (/app/src/handlers.ts:9:9)", "at call (/app/node_modules/pg/lib/client.js:1:1)"];
  const ours = "at #run (file:///app/node_modules/pigeonhole/dist/dispatch/runner.js:24:21)";
  const mapped = "at #call (/app/node_modules/pigeonhole/src/dispatch/handler-run.ts:55:27)";
  const line = (at: unknown[]) => format(pino({ level: 40, msg: "handler_failed", at, attempt: 1 })).split("\n");
  const head = "09:05:07  warn   handler_failed  attempt=1";
  expect(line([...own, ours, mapped])).toEqual([head, ...own.map((frame) => `    ${frame}`)]);
  expect(line([ours])).toEqual([head, `    ${ours}`]);
  expect(line([`at x (${ESC}[2J)`])[1]).not.toContain(ESC);
});

test("a time that is a number is printed as a time", () => {
  const dueAt = new Date(TIME).toISOString();
  expect(format(pino({ msg: "m", dueAt: TIME, lookedAt: 3, items: TIME }))).toBe(
    `09:05:07  info   m  dueAt=${dueAt}  lookedAt=3  items=${TIME}`,
  );
});

test("the stack of an error follows on lines of its own", () => {
  const line = pino({ level: 50, msg: "no answer", err: { type: "Error", stack: "Error: no answer\n    at ask" } });
  expect(format(line).split("\n")).toEqual(["09:05:07  error  no answer", "Error: no answer", "    at ask"]);
});

test.each([
  ["text", "listening at 3000"],
  ["JSON of another kind", '{"level":"info","msg":"up"}'],
  ["JSON that is cut off", '{"level":30,"time":17'],
  ["a level and no time", '{"level":30,"msg":"up"}'],
  ["a time that is no date", '{"level":30,"time":1e300,"msg":"up"}'],
  ["a list", "[1]"],
])("a line that is %s is printed as it is", (_, line) => {
  expect(format(line)).toBe(line);
});

test.each([
  ["a message", pino({ msg: `${ESC}[2J` })],
  ["the name of a field", pino({ [`${ESC}[2J`]: 1 })],
  ["the value of a field", pino({ field: `${ESC}[2J` })],
  ["a stack", pino({ err: { stack: `Error: ${ESC}[2J` } })],
  ["a line of text", `${ESC}[2J`],
])("control characters in %s do not reach the terminal", (_, line) => {
  expect(format(line)).not.toContain(ESC);
});

test.each([{ msg: { a: 1 } }, { msg: null }, { err: { stack: 1 } }, { err: "text" }, { err: null }])(
  "fields of other types are printed as fields: %j",
  (fields) => {
    const [[field, value] = []] = Object.entries(fields);
    expect(format(pino(fields))).toMatch(/^09:05:07 {2}info/);
    expect(format(pino(fields))).toContain(`${field}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  },
);
