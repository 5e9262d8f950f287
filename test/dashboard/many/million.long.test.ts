import { describe } from "vitest";
import { hasPostgres, isSkippedWithout } from "../../support/tools.js";
import { describeManyEvents } from "./describe-views.js";
import { fullDatabase, fullFile } from "./stores.js";

const TOTAL = 1_000_000;

describe("a dashboard on a file with 1,000,000 events", () => {
  describeManyEvents({ open: fullFile, total: TOTAL });
});

describe.skipIf(isSkippedWithout(hasPostgres()))("a dashboard on PostgreSQL with 1,000,000 events", () => {
  describeManyEvents({ open: fullDatabase, total: TOTAL });
});
