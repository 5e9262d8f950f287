import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { InboxOperator } from "#pigeonhole/store/inbox-operator.js";
import { openInbox } from "#pigeonhole/store/open-inbox.js";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import type { Store } from "#pigeonhole/store/store.js";
import { tempFile } from "../../support/receiver.js";
import { context, T } from "../conformance/new-event.js";

/** A store of a receiver, and where an operator finds it. */
interface OperatedStore {
  store: Store;
  place: string;
  /** Changes a column of all jobs. */
  setInJobs: (column: "action" | "choice" | "created_at", text: string) => Promise<void>;
}

/** A kind of store. */
export interface OperatorKind {
  /** Rows of one transaction at most. */
  page: number;
  create(): OperatedStore & { dispose?: () => Promise<void> };
}

export const sqlite: OperatorKind = {
  page: 25,
  create() {
    const file = tempFile();
    return {
      store: createSqliteStore({ file, thread: false }),
      place: file,
      setInJobs(column, text) {
        const db = new Database(file);
        db.prepare(`UPDATE inbox_job SET ${column} = ?`).run(text);
        db.close();
        return Promise.resolve();
      },
    };
  },
};

/** A store that is open as that of a receiver, and a look at it from outside; both are closed after the test. */
export async function openBoth(kind: OperatorKind): Promise<OperatedStore & { inbox: InboxOperator }> {
  const { store, place, setInJobs, dispose } = kind.create();
  onTestFinished(() => dispose?.());
  await store.open(context);
  onTestFinished(() => store.close());
  await store.recover(T);
  return { store, inbox: await openAnother(place), place, setInJobs };
}

/** One more look at the same store. */
export async function openAnother(place: string): Promise<InboxOperator> {
  const inbox = await openInbox(place);
  onTestFinished(() => inbox.close());
  return inbox;
}
