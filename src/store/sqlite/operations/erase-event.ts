import type { Database } from "better-sqlite3";
import type { EraseTask, Erased } from "./erase-contact-event.js";
import { prepareDropFailedRuns } from "./failed-runs.js";
import { MAY_END, endWork } from "../../queries/ending-work.js";
import { runInFile } from "../run-in-file.js";

/** What an event keeps is its row and the state of its work: a redelivery is a duplicate, and nothing runs twice. */
export function prepareEraseEvent(db: Database) {
  const selectBody = db.prepare<{ seq: number }, Uint8Array>("SELECT body FROM inbox_body WHERE seq = :seq").pluck();
  const selectTexts = db
    .prepare<{ seq: number }, string>(`
    SELECT error FROM inbox_work WHERE seq = :seq AND error IS NOT NULL
    UNION ALL SELECT stack FROM inbox_failed WHERE seq = :seq
    UNION ALL SELECT name FROM inbox_step WHERE seq = :seq
    UNION ALL SELECT value FROM inbox_step WHERE seq = :seq`)
    .pluck();
  const isHandled = db.prepare<{ seq: number }, 1>(`
    SELECT 1 FROM inbox_work WHERE seq = :seq AND state = 'leased'`);
  const countWaiting = db
    .prepare<{ seq: number }, number>(`SELECT count(*) FROM inbox_work WHERE seq = :seq AND ${MAY_END}`)
    .pluck();
  const dropBody = db.prepare("DELETE FROM inbox_body WHERE seq = :seq");
  const dropFailedRuns = prepareDropFailedRuns(db);
  const dropSteps = db.prepare("DELETE FROM inbox_step WHERE seq = :seq");

  return (seq: number, { mentions, now, dryRun }: EraseTask): Erased => {
    const body = selectBody.get({ seq });
    const contents = [...(body === undefined ? [] : [body]), ...selectTexts.all({ seq })];
    const readBytes = contents.reduce((sum, { length }) => sum + length, 0);
    if (!contents.some(mentions)) return { readBytes };
    const isLeft = isHandled.get({ seq }) !== undefined;
    const work = dryRun ? (countWaiting.get({ seq }) ?? 0) : runInFile(db, endWork({ seq, now }));
    if (isLeft) return { readBytes, work, eventsLeft: 1 };
    if (!dryRun) {
      dropBody.run({ seq });
      dropSteps.run({ seq });
      dropFailedRuns(seq);
    }
    return { readBytes, work, events: 1 };
  };
}
