import Database from "better-sqlite3";
import { describe } from "vitest";
import { createSqliteStore } from "#pigeonhole/store/sqlite/sqlite-store.js";
import { tempFile } from "../support/receiver.js";
import { describeBulkJobs } from "./operator/bulk-jobs.js";
import { describeDeadContactEvents } from "./operator/dead-contact-events.js";
import { describeErrorGroups } from "./operator/error-groups.js";
import { describeFiguresOfOperator } from "./operator/figures.js";
import type { OperatorKind } from "./operator/operator-kind.js";
import { describeBodiesOfOperator } from "./operator/bodies.js";
import { describeKnownIdsOfOperator } from "./operator/known-ids.js";
import { describePauses } from "./operator/pauses.js";
import { describeStuckWork } from "./operator/stuck-work.js";
import { describeWaitingWork } from "./operator/waiting-work.js";

const sqlite: OperatorKind = {
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

describe("chosen work of a file", () => describeStuckWork(sqlite));
describe("waiting work of a file", () => describeWaitingWork(sqlite));
describe("figures of a file", () => describeFiguresOfOperator(sqlite));
describe("known ids of a file", () => describeKnownIdsOfOperator(sqlite));
describe("bodies of a file", () => describeBodiesOfOperator(sqlite));
describe("contact events of a file", () => describeDeadContactEvents(sqlite));
describe("groups of errors of a file", () => describeErrorGroups(sqlite));
describe("jobs of a file", () => describeBulkJobs(sqlite));
describe("paused handlers of a file", () => describePauses(sqlite));
