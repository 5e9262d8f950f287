import { expect, test } from "vitest";
import type { BulkJob, JobFilter } from "../../src/store/bulk-jobs.js";
import { jobFilter, jobRow } from "../support/job-row.js";
import { describeJobFilter, describeProgress } from "../../src/page/dashboard/jobs/describe-job.js";

test.each<[Partial<BulkJob>, string]>([
  [{}, "3,000 of 3,000"],
  [{ state: "open", done: 25 }, "25 of 3,000"],
  [{ done: 0, changedBefore: 3_000 }, "0 of 3,000, 3,000 had been changed before this job came to them"],
  [{ done: 0, total: 0 }, "0 of 0, nothing was left to change when it began"],
  [{ done: 2_999, changedBefore: 1 }, "2,999 of 3,000, 1 had been changed before this job came to it"],
])("the progress of a job with %j is told as %j", (change, words) => {
  expect(describeProgress(jobRow(change))).toBe(words);
});

test.each<[Partial<JobFilter>, string]>([
  [{}, "all work"],
  [{ state: "dead", handler: "crm", error: "no\u0007 room" }, String.raw`dead, handler crm, error "no\u0007 room"`],
  [{ chosen: 2, errorGroup: "[hidden]" }, "2 chosen events, one group of errors"],
])("the work of a job by %j is told as %j", (filter, words) => {
  expect(describeJobFilter(jobFilter(filter))).toBe(words);
});
