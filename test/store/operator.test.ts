import { describe } from "vitest";
import { describeBulkJobs } from "./operator/bulk-jobs.js";
import { describeDeadContactEvents } from "./operator/dead-contact-events.js";
import { describeErrorGroups } from "./operator/error-groups.js";
import { sqlite } from "./operator/operator-kind.js";
import { describePauses } from "./operator/pauses.js";
import { describeStuckWork } from "./operator/stuck-work.js";

describe("chosen work of a file", () => describeStuckWork(sqlite));
describe("contact events of a file", () => describeDeadContactEvents(sqlite));
describe("groups of errors of a file", () => describeErrorGroups(sqlite));
describe("jobs of a file", () => describeBulkJobs(sqlite));
describe("paused handlers of a file", () => describePauses(sqlite));
