import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { ENTRIES, referenceTable } from "./api-reference.js";
import { ERROR_CODES } from "pigeonhole";
import { API_ERROR_CODES } from "#pigeonhole/contract/api-error-codes.js";
import { CONTRACT, listOperations } from "#pigeonhole/contract/contract.js";
import { ALARMS } from "#pigeonhole/receiver/alarm-table.js";
import { METRICS } from "#pigeonhole/receiver/metrics.js";
import { ANSWERS } from "#pigeonhole/protocol/outcome.js";
import { commandReference } from "./command-reference.js";
import { LISTED, optionTable } from "./option-tables.js";
import { STATE_WORDS } from "#pigeonhole/store/state-words.js";
import { readDocument, tableOf } from "./markdown.js";
import { resourceReference, resourcesList } from "./resource-reference.js";
import { GROUPS } from "../support/tell-skipped.js";

// Parts of the documents that follow from the source. `UPDATE=1 npx vitest run test/docs/readme.test.ts` writes them.

function answersTable(): string {
  const rows = Object.entries(ANSWERS).map(([outcome, { status, retryAfterMs }]) => [
    `\`${outcome}\``,
    status,
    retryAfterMs === undefined ? "–" : `${retryAfterMs / 1_000} s`,
  ]);
  return tableOf(["outcome", "answer", "Retry-After"], rows);
}

/** The codes of the service's errors by status. */
function apiErrorsTable(): string {
  const codes = Object.entries<{ status: readonly number[] }>(API_ERROR_CODES);
  const statuses = [...new Set(codes.flatMap(([, { status }]) => status))].toSorted((a, b) => a - b);
  const rows = statuses.map((status) => {
    const found = codes.filter(([, code]) => code.status.includes(status));
    return [status, found.map(([code]) => `\`${code}\``).join(", ")];
  });
  return tableOf(["status", "codes"], rows);
}

/** The paths that the service's documentation does not show. */
function assumedPathsTable(): string {
  const assumed = listOperations().filter(({ operation }) => operation.pathIsAssumed === true);
  const rows = Object.keys(CONTRACT).flatMap((resource) => {
    const own = assumed.filter((row) => row.resource === resource);
    const calls = own.map(({ name }) => `\`${resource}.${name}\``).join(", ");
    const paths = own.map(({ operation: { method, path } }) => `${method} ${path}`).join(", ");
    return own.length === 0 ? [] : [[calls, paths]];
  });
  return tableOf(["calls", "assumed paths"], rows);
}

function metricsTable(): string {
  const rows = METRICS.map(({ name, instrument, unit, attributes, description }) => {
    const listed = attributes.map((attribute) => `\`${attribute}\``).join(", ");
    return [`\`${name}\``, instrument, unit === "" ? "–" : `\`${unit}\``, listed || "–", description];
  });
  return tableOf(["metric", "kind", "unit", "attributes", "meaning"], rows);
}

function skippedTable(): string {
  const groups = Object.entries(GROUPS).flatMap(([kind, found]) => found.map((group) => ({ kind, ...group })));
  const rows = groups.map(({ kind, need, tests }) => [need, tests, `\`test:${kind}\``]);
  return tableOf(["Needed", "Skipped without it", "Of"], rows);
}

function statesTable(): string {
  const rows = Object.entries(STATE_WORDS).map(([word, meaning]) => [`\`${word}\``, meaning]);
  return tableOf(["state", "meaning"], rows);
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
  ...ENTRIES.map((entry): [string, string, string] => [`reference ${entry}`, "api.md", referenceTable(entry)]),
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

/** What docs/troubleshooting.md says under a title, by the name; "" where the name or the message says everything. */
function troubleshooting(title: string): Map<string, string> {
  const [, section = ""] = readDocument("docs/troubleshooting.md").split(`\n## ${title}\n`);
  const [text = ""] = section.split("\n## ");
  const rows = [...text.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(
    ([, name = "", words = ""]) => [name, words] as const,
  );
  const [, listed = ""] = /^The \w+ says everything: (.*)\.$/m.exec(text) ?? [];
  return new Map([...rows, ...[...listed.matchAll(/`(\w+)`/g)].map(([, name = ""]) => [name, ""] as const)]);
}

const namesOf = (titled: string): string[] => [...troubleshooting(titled).keys()].toSorted();

test("docs/troubleshooting.md has every message that src/ logs, and no other", () => {
  const logged = loggedMessages();
  expect(logged.size).toBeGreaterThan(30);
  // Named where they are passed on to the logger.
  const derived = ["dashboard_failed", "dashboard_job_interrupted"];
  expect(namesOf("Log messages")).toEqual([...new Set([...logged, ...derived])].toSorted());
});

test("docs/troubleshooting.md has every alarm with its advice", () => {
  // The page says this once.
  const sentAgain = /Deliveries[\w ]* are answered 503 meanwhile, so the service sends them again\./;
  const told = troubleshooting("Alarms");
  expect(namesOf("Alarms")).toEqual(Object.keys(ALARMS).toSorted());
  for (const [kind, { advice }] of Object.entries(ALARMS))
    expect(told.get(kind)).toContain(advice.replace(sentAgain, "").trim());
});

test("docs/troubleshooting.md has every error code with its cause", () => {
  const told = troubleshooting("Error codes");
  expect(namesOf("Error codes")).toEqual(Object.keys(ERROR_CODES).toSorted());
  for (const [code, cause] of Object.entries(ERROR_CODES)) {
    const words = told.get(code) ?? "";
    expect(words === "" || words.startsWith(cause), `${code}: ${cause}`).toBe(true);
  }
});
