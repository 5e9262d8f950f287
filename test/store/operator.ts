import { describe } from "vitest";
import type { StoreKind } from "./conformance/fixture.js";
import { describeBulkJobs } from "./operator/bulk-jobs.js";
import { describeDeadContactEvents } from "./operator/dead-contact-events.js";
import { describeErrorGroups } from "./operator/error-groups.js";
import { describePauses } from "./operator/pauses.js";
import { describeStuckWork } from "./operator/stuck-work.js";

/** What people see and do from outside of a receiver, whatever keeps its data. */
export function describeOperator(kind: StoreKind): void {
  describe(`chosen work of ${kind.name}`, () => describeStuckWork(kind));
  describe(`contact events of ${kind.name}`, () => describeDeadContactEvents(kind));
  describe(`groups of errors of ${kind.name}`, () => describeErrorGroups(kind));
  describe(`jobs of ${kind.name}`, () => describeBulkJobs(kind));
  describe(`paused handlers of ${kind.name}`, () => describePauses(kind));
}
