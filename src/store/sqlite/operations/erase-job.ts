import type { Database } from "better-sqlite3";
import { type StoredJob, eraseJob } from "../../erased-job.js";
import type { EraseTask, Erased } from "./erase-contact-event.js";

/** A job keeps all but the text by which its work was chosen. */
export function prepareEraseJob(db: Database) {
  const select = db.prepare<{ job: number }, StoredJob>("SELECT state, choice FROM inbox_job WHERE job = :job");
  const update = db.prepare("UPDATE inbox_job SET choice = :choice WHERE job = :job");

  return (job: number, { dryRun }: EraseTask): Erased => {
    const stored = select.get({ job });
    if (stored === undefined) return { readBytes: 0 };
    const { counts, choice } = eraseJob(stored);
    if (!dryRun && choice !== undefined) update.run({ job, choice });
    return { readBytes: stored.choice.length, ...counts };
  };
}
