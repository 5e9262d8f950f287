import { computed, signal } from "@preact/signals";
import type { BulkJob, JobAction, JobChange } from "../../../store/bulk-jobs.js";
import type { WorkFilter } from "../../../dashboard/job-body.js";
import { confirmed } from "../../state/confirmed.js";
import { runAction, showNotice } from "../../state/notice.js";
import { plural } from "../../text/format.js";
import { postJobChange, postJob, fetchJobs, postRunCounts } from "../../api/calls.js";

/** By id, newest first. */
export const jobs = signal<ReadonlyMap<string, BulkJob>>(new Map());

/** Ids of the ended jobs that are not shown above the view: they had ended before, or the user has closed them. */
const closed = signal<ReadonlySet<string>>(new Set());

/** What is shown above every view: open jobs, and those that ended while the page was open. */
export const shownJobs = computed(() =>
  [...jobs.value.values()].filter(({ id, state }) => state === "open" || !closed.value.has(id)),
);

/** Changes with each job that ends; lists load again then. */
export const endedJobs = computed(() => [...jobs.value.values()].filter(({ state }) => state !== "open").length);

/** False until the jobs of the store were received, by the stream or by {@link loadJobs}. */
let hasList = false;

/** Takes the store's list of jobs. Of the first ones, those that have ended are not shown above the view. */
export function takeList(list: readonly BulkJob[]): void {
  if (!hasList) for (const { id, state } of list) if (state !== "open") closeJob(id);
  hasList = true;
  dropUnlisted(list);
  take(list);
}

/** An open job that is not listed among newer ones has ended, or waits behind more than a list has. */
function dropUnlisted(list: readonly BulkJob[]): void {
  const isListed = (id: string) => list.some((job) => job.id === id);
  const isOlder = (at: string) => list.some(({ createdAt }) => createdAt > at);
  const left = [...jobs.value].filter(([id, job]) => job.state !== "open" || isListed(id) || !isOlder(job.createdAt));
  jobs.value = new Map(left);
}

function take(changed: readonly BulkJob[]): void {
  const all = new Map(jobs.value);
  // A job that has ended stays so: an answer that says otherwise is late. The text by which it chose may be erased.
  for (const job of changed)
    if (job.state !== "open" || (all.get(job.id)?.state ?? "open") === "open") all.set(job.id, job);
  const sorted = [...all.values()].toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  jobs.value = new Map(sorted.map((job) => [job.id, job]));
}

export function closeJob(id: string): void {
  closed.value = new Set([...closed.value, id]);
}

export function loadJobs(): Promise<boolean> {
  return runAction(async () => takeList((await fetchJobs()).jobs));
}

export function changeJob(id: string, change: JobChange): Promise<boolean> {
  return runAction(async () => take([await postJobChange(id, change)]));
}

const VERBS = { retry: "Retry", discard: "Discard", run: "Run now" } as const satisfies Record<JobAction, string>;

const MEANINGS = {
  retry: "Work that is dead or parked runs again, with new attempts.",
  discard: "Work that is dead or parked is ended permanently, without a run. Finished work stays as it is.",
  run: "Work that waits for its next run is due at once. Its attempts are kept.",
} as const satisfies Record<JobAction, string>;

/** Shows how much would be changed, and starts the change once the user agrees. Resolves with whether it started. */
export async function changeWork(action: JobAction, filter: WorkFilter): Promise<boolean> {
  let isStarted = false;
  await runAction(async () => {
    const { work, events } = await postRunCounts({ action, filter });
    if (work === 0) {
      showNotice({ tone: "plain", text: `Nothing to ${VERBS[action].toLowerCase()} here` });
      return;
    }
    const what = `${plural(work, "piece")} of work of ${plural(events, "event")}`;
    const title = action === "run" ? `Run ${what} now?` : `${VERBS[action]} ${what}?`;
    if (!(await confirmed({ title, text: MEANINGS[action], verb: VERBS[action] }))) return;
    take([await postJob({ action, filter })]);
    isStarted = true;
  });
  return isStarted;
}
