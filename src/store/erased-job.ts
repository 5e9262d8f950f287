import type { BulkJob, JobChoice } from "./bulk-jobs.js";
import type { EraseCounts } from "./erase.js";

/** What an erasure reads of a job. */
export interface StoredJob {
  state: BulkJob["state"];
  choice: string;
}

/** `choice`: what is left of it; undefined where it stays as it is. */
interface ErasedJob {
  counts: Partial<EraseCounts>;
  choice?: string;
}

/**
 * Erases the text in errors by which a person chose the work of a job, whatever address is looked for: it is typed by
 * hand, and may have a part of an address, or another name of the person. Where an open job still chooses by it, it
 * stays. Ids stay too, as those of events do.
 */
export function eraseJob({ state, choice }: StoredJob): ErasedJob {
  const { error, foundBy, ...rest } = JSON.parse(choice) as JobChoice;
  if (error === undefined && (foundBy === undefined || foundBy.error === null)) return { counts: {} };
  if (error !== undefined && state === "open") return { counts: { jobsLeft: 1 } };
  const found = foundBy ?? { payloads: "full", isAmongChosen: rest.ids !== undefined };
  const erased: JobChoice = { ...rest, foundBy: { ...found, error: null } };
  return { counts: { jobs: 1 }, choice: JSON.stringify(erased) };
}
