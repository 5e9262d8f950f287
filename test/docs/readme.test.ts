import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { apiErrorsTable } from "./api-errors-table.js";
import { referenceTable } from "./api-reference.js";
import { ANSWERS } from "#pigeonhole/protocol/outcome.js";
import { commandReference } from "./command-reference.js";
import { LISTED, optionTable } from "./option-tables.js";
import { STATE_WORDS } from "#pigeonhole/store/state-words.js";
import { metricsTable } from "./metrics-table.js";
import { assumedPathsTable } from "./assumed-paths-table.js";
import { resourceReference, resourcesList } from "./resource-reference.js";
import { GROUPS } from "../support/tell-skipped.js";
import { LOG_MESSAGES, alarmTable, errorTable, logTable } from "./troubleshooting.js";

// Parts of the documents that follow from the source. `UPDATE=1 npx vitest run test/docs/readme.test.ts` writes them.

function answersTable(): string {
  const rows = Object.entries(ANSWERS).map(([outcome, { status, retryAfterMs }]) => {
    const retryAfter = retryAfterMs === undefined ? "–" : `${retryAfterMs / 1_000} s`;
    return `| \`${outcome}\` | ${status} | ${retryAfter} |`;
  });
  return ["| outcome | answer | Retry-After |", "|---|---|---|", ...rows].join("\n");
}

function skippedTable(): string {
  const groups = Object.entries(GROUPS).flatMap(([kind, found]) => found.map((group) => ({ kind, ...group })));
  const rows = groups.map(({ kind, need, tests }) => `| ${need} | ${tests} | \`test:${kind}\` |`);
  return ["| Needed | Skipped without it | Of |", "|---|---|---|", ...rows].join("\n");
}

function statesTable(): string {
  const rows = Object.entries(STATE_WORDS).map(([word, meaning]) => `| \`${word}\` | ${meaning} |`);
  return ["| state | meaning |", "|---|---|", ...rows].join("\n");
}

test.each<readonly [part: string, page: string, text: string]>([
  ["skipped groups", "../.github/CONTRIBUTING.md", skippedTable()],
  ["answers", "answers-and-guarantees.md", answersTable()],
  ["api-assumptions", "assumptions.md", assumedPathsTable()],
  ["states of work", "operations.md", statesTable()],
  ["metrics", "telemetry.md", metricsTable()],
  ["commands", "cli.md", commandReference()],
  ["all operations", "api.md", resourceReference()],
  ["resources", "../README.md", resourcesList()],
  ["api error codes", "service.md", apiErrorsTable()],
  ["log messages", "troubleshooting.md", logTable()],
  ["alarms", "troubleshooting.md", alarmTable()],
  ["error codes", "troubleshooting.md", errorTable()],
  ["reference index", "api.md", referenceTable("index")],
  ["reference client", "api.md", referenceTable("client")],
  ["reference dashboard", "api.md", referenceTable("dashboard")],
  ["reference postgres", "api.md", referenceTable("postgres")],
  ["reference protocol", "api.md", referenceTable("protocol")],
  ["reference sandbox", "api.md", referenceTable("sandbox")],
  ["reference store", "api.md", referenceTable("store")],
  ["reference testing", "api.md", referenceTable("testing")],
  ...LISTED.map((options): [string, string, string] => [
    `options of ${options.of}`,
    options.page,
    optionTable(options),
  ]),
])("the generated part %s of docs/%s is up to date", (name, page, part) => {
  const file = resolve(import.meta.dirname, "../../docs", page);
  const document = readFileSync(file, "utf8");
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end);
  expect(from).toBeGreaterThan(begin.length);
  expect(to).toBeGreaterThanOrEqual(from);
  if (process.env["UPDATE"] === "1") writeFileSync(file, `${document.slice(0, from)}${part}\n${document.slice(to)}`);
  else expect(document.slice(from, to)).toBe(`${part}\n`);
});

const SRC = resolve(import.meta.dirname, "../../src");
const LOGGER_CALL = /\b(?:logger|log)\??\.(?:debug|info|warn|error)\([^;]*;/g;
const MESSAGE = /(?<!=== )"([a-z]+(?:_[a-z]+)+|alarm|parked)"/g;

/** The messages in the calls of a logger; a call ends at the first semicolon. The command line prints instead. */
function loggedMessages(): Set<string> {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/^(cli|page|scaffold)\//.test(file),
  );
  const calls = files.flatMap((file) => readFileSync(resolve(SRC, file), "utf8").match(LOGGER_CALL) ?? []);
  return new Set(calls.flatMap((call) => [...call.matchAll(MESSAGE)].map(([, name = ""]) => name)));
}

test("docs/troubleshooting.md has every message that src/ logs, and no other", () => {
  const logged = loggedMessages();
  // Named where they are passed on to the logger.
  const derived = new Set(["dashboard_failed", "dashboard_job_interrupted"]);
  expect(logged.size).toBeGreaterThan(30);
  expect([...logged].filter((message) => !(message in LOG_MESSAGES))).toEqual([]);
  expect(Object.keys(LOG_MESSAGES).filter((message) => !logged.has(message) && !derived.has(message))).toEqual([]);
});
