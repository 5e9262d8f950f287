import { expect, test } from "vitest";
import type { BulkJob } from "../../src/store/bulk-jobs.js";
import { jobFilter, jobRow } from "../support/job-row.js";
import { jobs, shownJobs, takeList } from "../../src/page/dashboard/jobs/jobs.js";

const job = (id: string, state: BulkJob["state"]): BulkJob => jobRow({ id, state, endedAt: null });

test("the page shows jobs that are open, or end while it is open", () => {
  const shown = (): string[] => shownJobs.value.map(({ id, state }) => `${id} ${state}`);
  takeList([job("new", "open"), job("old", "done")]);
  expect(shown()).toEqual(["new open"]);
  takeList([job("short", "done"), job("new", "done"), job("old", "done")]);
  expect(shown().toSorted()).toEqual(["new done", "short done"]);
});

test("a text that was erased goes from a job that has ended", () => {
  const told = (error: string) => takeList([{ ...job("erased", "done"), filter: jobFilter({ error }) }]);
  told("no Ann");
  told("[erased]");
  expect(jobs.value.get("erased")?.filter).toMatchObject({ error: "[erased]" });
});

test("an open job that is not listed among newer ones is not shown as open", () => {
  takeList([job("gone", "open")]);
  const newer = { ...job("newer", "open"), createdAt: "2026-01-02T00:00:00.000Z" };
  takeList([newer]);
  takeList([]);
  expect(shownJobs.value.map(({ id }) => id)).not.toContain("gone");
  expect(shownJobs.value.map(({ id }) => id)).toContain("newer");
});

test("an answer that comes late begins no job again", () => {
  takeList([job("late", "done")]);
  takeList([job("late", "open")]);
  expect(shownJobs.value.find(({ id }) => id === "late")?.state).toBe("done");
});
