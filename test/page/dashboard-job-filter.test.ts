import { expect, test } from "vitest";
import type { JobFilter } from "../../src/web/api/jobs.js";
import { describeJobFilter } from "../../src/page/dashboard/jobs/describe-job.js";

test.each<[JobFilter, string]>([
  [{}, "all work"],
  [{ state: "dead", handler: "crm", error: "no\u0007 room" }, String.raw`dead, handler crm, error "no\u0007 room"`],
  [{ state: "dead", isErrorErased: true }, "dead, a text in errors (erased)"],
  [{ chosen: 2, isGroup: true }, "2 chosen events, one group of errors"],
])("the work of a job by %j is told as %j", (filter, words) => {
  expect(describeJobFilter(filter)).toBe(words);
});
