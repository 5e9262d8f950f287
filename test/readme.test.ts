import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { API_ASSUMPTIONS, operationsTable } from "pigeonhole/client";
import { ASSUMPTIONS } from "pigeonhole/protocol";
import { expect, test } from "vitest";
import { referenceTable } from "./api-reference.js";
import { commandTable } from "#pigeonhole/cli/command-table.js";
import { ANSWERS } from "#pigeonhole/protocol/outcome.js";

// Tables in the README that follow from data. `UPDATE=1 npx vitest run test/readme.test.ts` writes them anew.

const file = resolve(import.meta.dirname, "../README.md");

function answersTable(): string {
  const rows = Object.entries(ANSWERS).map(([outcome, { status, retryAfterMs }]) => {
    const retryAfter = retryAfterMs === undefined ? "–" : `${retryAfterMs / 1_000} s`;
    return `| \`${outcome}\` | ${status} | ${retryAfter} |`;
  });
  return ["| outcome | answer | Retry-After |", "|---|---|---|", ...rows].join("\n");
}

function assumptionsTable(assumptions: readonly { notShown: string; assumed: string; change: string }[]): string {
  const rows = assumptions.map(({ notShown, assumed, change }) => `| ${notShown} | ${assumed} | ${change} |`);
  return ["| not shown | assumed | to change it |", "|---|---|---|", ...rows].join("\n");
}

test.each([
  ["answers", answersTable()],
  ["assumptions", assumptionsTable(ASSUMPTIONS)],
  ["api-assumptions", assumptionsTable(API_ASSUMPTIONS)],
  ["commands", commandTable()],
  ["operations", operationsTable()],
  ["reference index", referenceTable("index")],
  ["reference client", referenceTable("client")],
  ["reference protocol", referenceTable("protocol")],
  ["reference sandbox", referenceTable("sandbox")],
  ["reference testing", referenceTable("testing")],
])("the README's table of %s is up to date", (name, table) => {
  const readme = readFileSync(file, "utf8");
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
  const from = readme.indexOf(begin) + begin.length;
  const to = readme.indexOf(end);
  expect(from).toBeGreaterThan(begin.length);
  expect(to).toBeGreaterThanOrEqual(from);
  if (process.env["UPDATE"] === "1") writeFileSync(file, `${readme.slice(0, from)}${table}\n${readme.slice(to)}`);
  else expect(readme.slice(from, to)).toBe(`${table}\n`);
});
